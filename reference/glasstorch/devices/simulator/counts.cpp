// How many sectors of 32 bytes does each load and store of a warp move?
//
// On a GPU the lanes of a warp execute a load together, and memory is transferred in sectors. Here the lanes execute it
// one after another: the n-th executions of one instruction by the lanes of one warp make up one request.
#include "launch.h"

#include <vector>

namespace sim {

static constexpr uint64_t SECTOR = 32;  // bytes

// A set or a counter of 64-bit keys, cleared in constant time.
class Keys {
  public:
    Keys() : rows(1 << 12) {}
    void clear() {
        if (++era == 0) rows.assign(rows.size(), Row()), era = 1;
        used = 0;
    }
    // Counts the key, and returns how often it was counted before.
    uint32_t count(uint64_t key) {
        size_t mask = rows.size() - 1, at = key & mask;
        while (rows[at].era == era && rows[at].key != key) at = (at + 1) & mask;
        if (rows[at].era == era) return rows[at].count++;
        rows[at] = {key, era, 1};
        if (++used * 2 > rows.size()) grow();
        return 0;
    }

  private:
    struct Row {
        uint64_t key;
        uint32_t era, count;
    };
    std::vector<Row> rows;
    uint32_t era = 1;
    size_t used = 0;
    void grow() {
        std::vector<Row> old(rows.size() * 2);
        old.swap(rows);
        size_t mask = rows.size() - 1, at;
        for (const Row& row : old) {
            if (row.era != era) continue;
            for (at = row.key & mask; rows[at].era == era;) at = (at + 1) & mask;
            rows[at] = row;
        }
    }
};

static Keys executions, requests, sectors;

static uint64_t mixed(uint64_t a, uint64_t b) {
    uint64_t x = (a ^ b * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    return (x ^ x >> 31) * 0x94d049bb133111ebull ^ x >> 29;
}

void count_begin_block() {
    if (!launch->count_sectors) return;
    executions.clear();
    requests.clear();
    sectors.clear();
}

void count_sectors(uint64_t address, size_t size, bool write, uintptr_t pc) {
    Counts& counts = launch->counts;
    uint64_t which = executions.count(mixed(pc, thread->linear));
    uint64_t request = mixed(mixed(pc, which), thread->warp);
    if (!requests.count(request)) (write ? counts.store_requests : counts.load_requests)++;
    for (uint64_t sector = address / SECTOR; sector <= (address + size - 1) / SECTOR; sector++)
        if (!sectors.count(mixed(request, sector))) (write ? counts.store_sectors : counts.load_sectors)++;
}

}  // namespace sim
