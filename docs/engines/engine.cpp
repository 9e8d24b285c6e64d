// A program that search-arena can play with.  Build it: g++ -O2 -std=c++17 -o engine engine.cpp
// Replace `choose`; without a library for JSON, `field` reads what a simple program needs.
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

// What stands after "key": in a line of JSON: text without its quotes, or a list without its brackets.
std::string field(const std::string& line, const std::string& key) {
    size_t start = line.find("\"" + key + "\":") + key.size() + 3;
    if (line[start] == '[') return line.substr(start + 1, line.find(']', start) - start - 1);
    if (line[start] == '"') return line.substr(start + 1, line.find('"', start + 1) - start - 1);
    return line.substr(start, line.find_first_of(",}", start) - start);
}

std::string choose(const std::vector<std::string>& legal, unsigned long seed) { return legal[seed % legal.size()]; }

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        std::string type = field(line, "type"), move;
        if (type == "hello") {
            std::cout << R"({"name": "C++ template", "version": "1"})" << std::endl;  // endl flushes
        } else if (type == "move") {
            std::vector<std::string> legal;
            std::istringstream names(field(line, "legal"));
            while (std::getline(names, move, ',')) legal.push_back(move.substr(1, move.size() - 2));
            std::cout << R"({"move": ")" << choose(legal, std::stoul(field(line, "seed"))) << R"("})" << std::endl;
        } else {
            std::cout << "{}" << std::endl;
        }
    }
}
