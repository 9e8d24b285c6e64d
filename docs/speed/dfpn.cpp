// df-pn (Nagai, 2002) with 1 + epsilon thresholds (Pawlewicz & Lew, 2007), as a recursion: the agent dfpn, node for
// node, asked whether the first player wins Breakthrough on 5x4 or 5x5.  Leaves begin with the number of their moves.
#include <cmath>
#include <cstring>

#include "games.h"
#include "table.h"

const int64_t INFINITE = 1 << 30, MOST = INFINITE - 1;
const double EPSILON = 0.25;

struct Numbers {
    int64_t proof, disproof;
};

template <class Game>
class DFPN {
    Table table{64};

    struct Children {
        int moves[Game::MAX_MOVES], total;
        u64 keys[Game::MAX_MOVES];
        Numbers numbers[Game::MAX_MOVES];
    };

public:
    u64 nodes = 0;

    Numbers search(const Game& game, u64 key, Numbers limit) {
        bool or_node = game.player() == 0;
        u64 before = nodes;
        Children children;
        open(game, or_node, children);
        while (true) {
            Numbers own = combine(children, or_node);
            if (!own.proof || !own.disproof || own.proof >= limit.proof || own.disproof >= limit.disproof) {
                table.store(key, own.proof, own.disproof, nodes - before);
                return own;
            }
            int64_t second;
            int chosen = least(children, or_node, second);
            Numbers& child = children.numbers[chosen];
            Numbers below =
                or_node ? Numbers{std::min(limit.proof, beyond(second)), remainder(limit.disproof, own.disproof, child.disproof)}
                        : Numbers{remainder(limit.proof, own.proof, child.proof), std::min(limit.disproof, beyond(second))};
            Game after = game;
            after.play(children.moves[chosen]);
            child = search(after, children.keys[chosen], below);
        }
    }

    // What is asked is part of a position's key: here, whether the first player wins, however late.
    static u64 key_of(const Game& game) { return game.key() ^ mix(5 * GAMMA); }

private:
    void open(const Game& game, bool or_node, Children& children) {
        children.total = game.sound_moves(children.moves);
        for (int i = 0; i < children.total; i++) {
            Game after = game;
            after.play(children.moves[i]);
            nodes++;
            Numbers& numbers = children.numbers[i] = first_numbers(after, children.keys[i]);
            if ((or_node ? numbers.proof : numbers.disproof) == 0) {
                children.total = i + 1;
                return;
            }
        }
    }

    Numbers first_numbers(const Game& game, u64& key) {
        bool exact;
        int plies = game.over() ? 0 : game.foreseen(exact);
        if (game.over() || plies) {
            bool first_wins = plies ? (plies > 0) == (game.player() == 0) : game.result() > 0;
            return first_wins ? Numbers{0, INFINITE} : Numbers{INFINITE, 0};
        }
        Numbers stored;
        key = key_of(game);
        if (table.probe(key, stored.proof, stored.disproof)) return stored;
        int moves[Game::MAX_MOVES], mobility = game.sound_moves(moves);
        return game.player() == 0 ? Numbers{1, mobility} : Numbers{mobility, 1};
    }

    static Numbers combine(const Children& children, bool or_node) {
        int64_t least = INFINITE, total = 0;
        for (int i = 0; i < children.total; i++) {
            Numbers one = children.numbers[i];
            if (!or_node) std::swap(one.proof, one.disproof);
            if (one.disproof == INFINITE) return or_node ? Numbers{0, INFINITE} : Numbers{INFINITE, 0};
            least = std::min(least, one.proof);
            total += one.disproof;
        }
        total = least == INFINITE ? 0 : std::min(total, MOST);
        return or_node ? Numbers{least, total} : Numbers{total, least};
    }

    static int least(const Children& children, bool or_node, int64_t& second) {
        int best = 0;
        int64_t least = second = INFINITE;
        for (int i = 0; i < children.total; i++) {
            int64_t number = or_node ? children.numbers[i].proof : children.numbers[i].disproof;
            if (number < least)
                best = i, second = least, least = number;
            else
                second = std::min(second, number);
        }
        return best;
    }

    static int64_t beyond(int64_t second) { return std::max(second + 1, int64_t(std::ceil(second * (1 + EPSILON)))); }

    static int64_t remainder(int64_t limit, int64_t total, int64_t own) {
        return limit == INFINITE ? limit : limit - (std::min(total, MOST) - own);
    }
};

template <class Game>
int run() {
    return serve([] {
        DFPN<Game> search;
        Game game;
        Numbers root = search.search(game, DFPN<Game>::key_of(game), {INFINITE, INFINITE});
        return Result{search.nodes, checked(search.nodes, root.proof == 0, 0)};
    });
}

int main(int argc, char** argv) {
    if (argc != 2) usage("dfpn 5x4|5x5");
    return strcmp(argv[1], "5x4") == 0 ? run<Breakthrough<5, 4>>() : run<Breakthrough<5, 5>>();
}
