// The transposition table of agents/core/table.py, with the scheme two_big.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "common.h"

class Table {
    struct Place {
        u64 key;
        int64_t first, second;
        u64 work;  // 0: the place is empty
    };
    Place* places;
    u64 pairs;

    u64 bytes() const { return 2 * pairs * sizeof(Place); }
    Place* pair_of(u64 key) const { return places + 2 * ((key * GAMMA >> 32) * pairs >> 32); }

public:
    explicit Table(double mebibytes) : pairs(u64(mebibytes * (1 << 20)) / (2 * sizeof(Place))) {
        void* memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        madvise(memory, bytes(), MADV_HUGEPAGE);  // as NumPy does
        places = (Place*)memory;
    }
    ~Table() { munmap(places, bytes()); }
    Table(const Table&) = delete;

    bool probe(u64 key, int64_t& first, int64_t& second) const {
        for (Place *place = pair_of(key), *end = place + 2; place < end; place++)
            if (place->work && place->key == key) {
                first = place->first, second = place->second;
                return true;
            }
        return false;
    }

    // The first place of a pair is for the position that cost most work, the second for the newest of the others.
    void store(u64 key, int64_t first, int64_t second, u64 work) {
        Place *place = pair_of(key), fresh = {key, first, second, work + (1ull << 44)};
        bool held = place->work && place->key == key;
        if (!held && fresh.work >= place->work)
            place[1] = place[0];
        else if (!held)
            place++;
        *place = fresh;
    }
};
