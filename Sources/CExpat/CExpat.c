#include "CExpat.h"

#include <stdint.h>
#include <stdlib.h>

// In front of each block; as well aligned as malloc's.
union head {
    size_t size;
    max_align_t alignment;
};

static _Thread_local struct CExpat_memory *current;

static void *resize(void *block, size_t size)
{
    union head *old = block ? (union head *)block - 1 : NULL;
    const size_t before = old ? old->size : 0;
    if (size > SIZE_MAX - sizeof(union head)) return NULL;
    size += sizeof(union head);
    if (size > current->most || current->held - before > current->most - size) {
        current->is_exhausted = 1;
        return NULL;
    }
    union head *new = realloc(old, size);
    if (!new) return NULL;
    new->size = size;
    current->held += size - before;
    if (current->held > current->highest) current->highest = current->held;
    return new + 1;
}

static void *reserve(size_t size)
{
    return resize(NULL, size);
}

static void release(void *block)
{
    if (!block) return;
    union head *old = (union head *)block - 1;
    current->held -= old->size;
    free(old);
}

XML_Parser CExpat_create(struct CExpat_memory *memory)
{
    static const XML_Memory_Handling_Suite functions = {reserve, resize, release};
    current = memory;
    XML_Parser parser = XML_ParserCreate_MM(NULL, &functions, NULL);
    current = NULL;
    return parser;
}

enum XML_Status CExpat_parse(
    XML_Parser parser, struct CExpat_memory *memory, const char *bytes, int count, int is_last)
{
    current = memory;
    enum XML_Status status = XML_Parse(parser, bytes, count, is_last);
    current = NULL;
    return status;
}

void CExpat_free(XML_Parser parser, struct CExpat_memory *memory)
{
    current = memory;
    XML_ParserFree(parser);
    current = NULL;
}
