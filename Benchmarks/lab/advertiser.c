// An adapter on /dev/vhci that hears many devices: advertiser RATE DEVICES LISTED.
//
// As long as the kernel scans it reports RATE adverts a second. LISTED scales (Mi Scale, C6:00:00:00:00:01 and on) send one a
// second each, with another weight every 10 s; the rest come from DEVICES others (C7:…), in turn. It filters no
// duplicates. Each second it prints how many it has reported, as JSON. The kernel gets zeros for whatever else it asks.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { COMMAND_PACKET = 0x01, EVENT_PACKET = 0x04, VENDOR_PACKET = 0xFF };
enum { COMMAND_COMPLETE = 0x0E, LE_META = 0x3E, LE_ADVERTISING_REPORT = 0x02, ADV_NONCONN_IND = 0x03, RANDOM_ADDRESS = 1 };
enum {
  READ_LOCAL_VERSION = 0x1001, READ_COMMANDS = 0x1002, READ_FEATURES = 0x1003, READ_ADDRESS = 0x1009,
  LE_READ_BUFFER_SIZE = 0x2002, LE_READ_STATES = 0x201C, LE_SET_SCAN_ENABLE = 0x200C
};
// Ticks a second. One that comes late brings the adverts of those it missed.
enum { TICKS = 500, VALUE_S = 10, ANSWER_SIZE = 1 + 64 };

static int adapter;
static int scans;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void send_packet(const uint8_t *packet, size_t size) {
  if (write(adapter, packet, size) != (ssize_t)size) fail("write to vhci");
}

static void answer(const uint8_t *command) {
  uint16_t opcode = command[0] | command[1] << 8;
  uint8_t packet[6 + ANSWER_SIZE] = {EVENT_PACKET, COMMAND_COMPLETE, 3 + ANSWER_SIZE, 1, command[0], command[1]};
  // After the status, which is 0.
  uint8_t *values = packet + 7;
  switch (opcode) {
    case READ_LOCAL_VERSION: values[0] = values[3] = 0x09; break;       // Bluetooth 5.0
    case READ_FEATURES: values[4] = 0x60; break;                        // LE and nothing else
    case READ_ADDRESS: memcpy(values, "\x09\x00\x00\xDC\x1B\x00", 6); break;
    case LE_READ_BUFFER_SIZE: values[0] = 27, values[2] = 8; break;
    case LE_READ_STATES: memset(values, 0xFF, 5); break;
    case LE_SET_SCAN_ENABLE: scans = command[3]; break;
  }
  send_packet(packet, sizeof packet);
}

// Reports an advert of device `number` of those whose addresses begin with `kind`.
static void report(uint8_t kind, uint32_t number, const uint8_t *data, uint8_t size, uint64_t count) {
  uint8_t packet[64] = {EVENT_PACKET, LE_META, 12 + size, LE_ADVERTISING_REPORT, 1, ADV_NONCONN_IND, RANDOM_ADDRESS,
                        number, number >> 8, 0, 0, 0, kind, size};
  memcpy(packet + 14, data, size);
  packet[14 + size] = -50 - count % 17;
  send_packet(packet, 15 + size);
}

static void report_scale(uint32_t number, uint64_t count, uint64_t second) {
  uint32_t value = second / VALUE_S;
  uint16_t weight = 2 * (6000 + 100 * number + value % 100);
  // A Mi Scale's settled weight in kg, and when that was.
  uint8_t data[] = {2, 0x01, 0x06, 13, 0x16, 0x1D, 0x18, 0x22, weight, weight >> 8, 0xEA, 0x07, 11, 22,
                    8, value / 60 % 60, value % 60};
  report(0xC6, number, data, sizeof data, count);
}

static void report_other(uint32_t number, uint64_t count) {
  // As phones do: flags and the maker's data.
  uint8_t data[] = {2, 0x01, 0x1A, 23, 0xFF, 0x4C, 0x00, 0x12, 0x13, number, number >> 8, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                    0, 0, 0, 0, 0, 0, 0};
  report(0xC7, number, data, sizeof data, count);
}

int main(int count, char **arguments) {
  if (count != 4) return 64;
  uint64_t rate = atoi(arguments[1]), devices = atoi(arguments[2]), listed = atoi(arguments[3]);
  uint8_t packet[1024] = {VENDOR_PACKET, 0};
  uint64_t sent = 0, ticks = 0, second = 0;
  if ((adapter = open("/dev/vhci", O_RDWR)) < 0) fail("/dev/vhci");
  send_packet(packet, 2);
  int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  struct itimerspec period = {{0, 1000000000 / TICKS}, {0, 1000000000 / TICKS}};
  if (timer < 0 || timerfd_settime(timer, 0, &period, NULL) < 0) fail("timerfd");
  struct pollfd awaited[] = {{adapter, POLLIN, 0}, {timer, POLLIN, 0}};
  for (;;) {
    if (poll(awaited, 2, -1) < 0 && errno != EINTR) fail("poll");
    if (awaited[0].revents) {
      ssize_t size = read(adapter, packet, sizeof packet);
      if (size <= 0) fail("read from vhci");
      if (packet[0] == COMMAND_PACKET) answer(packet + 1);
    }
    uint64_t passed = 0;
    if (awaited[1].revents && read(timer, &passed, sizeof passed) < 0) fail("timerfd");
    if (!scans) continue;
    for (; passed > 0; passed--, ticks++) {
      // How many of this second's are due at this tick.
      uint64_t place = ticks % TICKS, due = rate * (place + 1) / TICKS - rate * place / TICKS;
      for (uint64_t number = 0; number < due; number++, sent++) {
        uint64_t turn = sent % rate;
        if (turn < listed) report_scale(turn + 1, sent, ticks / TICKS);
        else report_other(1 + sent % devices, sent);
      }
      if (place == TICKS - 1) printf("{\"second\": %llu, \"sent\": %llu}\n", (unsigned long long)++second, (unsigned long long)sent), fflush(stdout);
    }
  }
}
