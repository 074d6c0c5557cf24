// SPDX-License-Identifier: Apache-2.0
//
// Calls with destructors and handlers around them: they are invokes, variadic ones too.
#include <cstdio>
#include <fcntl.h>
#include <iostream>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>

struct file {
    int fd;
    explicit file(const char *path) : fd(open(path, O_RDONLY | O_CREAT, 0644))
    {
        if (fd < 0)
            throw std::system_error(errno, std::generic_category(), "open");
    }
    ~file()
    {
        std::cout << "closed\n";
        close(fd);
    }
    template <class T> T take()
    {
        T value{};
        ssize_t n = read(fd, &value, sizeof value);
        if (n < 0)
            throw std::system_error(errno, std::generic_category(), "read");
        return value;
    }
};

static std::string before = "made before main"; // by a constructor
inline int shared_by_units = 3;

int use(const char *path);

int main(int, char **argv)
{
    std::cout << before << ' ' << shared_by_units << '\n';
    try {
        file f(argv[1]);
        std::cout << f.take<int>() << ' ' << f.take<char>() << '\n';
    } catch (const std::system_error &e) {
        std::cout << "caught " << e.what() << '\n';
    }
    int result = 0;
    std::thread([&] { result = use(argv[1]); }).join();
    std::cout << "other unit " << result << '\n';
}
