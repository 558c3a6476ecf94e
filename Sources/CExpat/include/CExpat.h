#ifndef CEXPAT_H
#define CEXPAT_H

#include <expat.h>
#include <stddef.h>

// What a parser holds of memory, and the most that it may hold, in bytes.
struct CExpat_memory {
    size_t held, most, highest;
    // Whether the parser was refused more.
    int is_exhausted;
};

// XML_ParserCreate_MM(3) with an allocator that counts in `memory`, which has to outlive the parser. NULL if there is no
// memory. Expat's allocator functions have no context, so the calling thread has it while a call lasts: a parser is
// made, fed and freed by these three functions alone.
XML_Parser CExpat_create(struct CExpat_memory *memory);
enum XML_Status CExpat_parse(
    XML_Parser parser, struct CExpat_memory *memory, const char *bytes, int count, int is_last);
void CExpat_free(XML_Parser parser, struct CExpat_memory *memory);

#endif
