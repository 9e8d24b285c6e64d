// UCT (Kocsis & Szepesvari, 2006) on Connect 4 or Breakthrough 8x8, with the decisions of the agent
// uct(playouts=PLAYOUTS).
#include <cstring>

#include "games.h"
#include "tree.h"

const double EXPLORATION = 0.4;

template <class Game>
struct UCT {
    int select(const Tree<Game>& tree, const Game&) { return tree.largest_bound(EXPLORATION); }
    double play_out(const Tree<Game>&, Game& game, Random& random) { return 0.5 * (game.random_playout(random) + 1); }
    void note(Node& node) { node.note(); }
    void learn(const Tree<Game>&, double) {}
};

template <class Game>
int run(int playouts, u64 seed) {
    return serve([=] {
        Tree<Game> tree;
        UCT<Game> rule;
        return tree.search(rule, Game(), playouts, Random{seed});
    });
}

int main(int argc, char** argv) {
    if (argc != 4) usage("uct connect4|breakthrough PLAYOUTS SEED");
    int playouts = atoi(argv[2]);
    u64 seed = strtoull(argv[3], nullptr, 10);
    return strcmp(argv[1], "connect4") == 0 ? run<Connect4>(playouts, seed) : run<Breakthrough<8, 8>>(playouts, seed);
}
