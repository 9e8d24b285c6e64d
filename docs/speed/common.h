// What the yardsticks share: random numbers, the clock, and the conversation with compare.py.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#ifdef __BMI2__
#include <immintrin.h>
#endif

typedef uint64_t u64;

const u64 GAMMA = 0x9E3779B97F4A7C15;

inline u64 mix(u64 word) {
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9;
    word = (word ^ word >> 27) * 0x94D049BB133111EB;
    return word ^ word >> 31;
}

// SplitMix64 (Steele, Lea & Flood, 2014), with the draws that search-arena makes of a word.
struct Random {
    u64 state;
    u64 next() { return mix(state += GAMMA); }
    int below(u64 bound) { return int((next() >> 32) * bound >> 32); }
    double unit() { return double(next() >> 11) * 0x1p-53; }
};

inline int count(u64 set) { return __builtin_popcountll(set); }
inline int lowest(u64 set) { return __builtin_ctzll(set); }

// The n-th lowest bit of a set, from 0.
inline u64 nth_bit(u64 set, int n) {
#ifdef __BMI2__
    return _pdep_u64(1ull << n, set);
#else
    while (n--) set &= set - 1;
    return set & -set;
#endif
}

struct Result {
    u64 units;  // nodes, or playouts
    u64 check;  // a number that another search would hardly come to
};

// A search's statistics of the root's moves, as one number.
inline u64 checked(u64 check, u64 move, u64 number) { return mix(check + move * GAMMA + number); }

inline double processor_time() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

// For each number n on the standard input: search n times; print units, seconds of processor time, and the check.
template <class Search>
int serve(Search search) {
    for (long n; scanf("%ld", &n) == 1;) {
        u64 units = 0, check = 0;
        double begin = processor_time();
        for (long i = 0; i < n; i++) {
            Result result = search();
            units += result.units;
            check = result.check;
        }
        printf("%llu %.9f %llu\n", (unsigned long long)units, processor_time() - begin, (unsigned long long)check);
        fflush(stdout);
    }
    return 0;
}

[[noreturn]] inline int usage(const char* words) {
    fprintf(stderr, "usage: %s\n", words);
    exit(2);
}
