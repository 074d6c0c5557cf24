// SPDX-License-Identifier: Apache-2.0
//
// Replays saved inputs through a fuzz target without libFuzzer: `fuzz_x FILE...` gives each file to
// LLVMFuzzerTestOneInput. So every input that once mattered is a test, with any compiler.
//
// 1. The name of a file is printed before it is fed: the last line before a crash names the input.
// 2. An input lies in a heap block of its own size, so that ASan sees a read past its end.

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The bytes of an open regular file, to be freed by the caller; NULL when they cannot be read.
static uint8_t *read_all(FILE *f, size_t *size)
{
    if (fseek(f, 0, SEEK_END) != 0)
        return NULL;
    long end = ftell(f);
    if (end < 0 || fseek(f, 0, SEEK_SET) != 0)
        return NULL;
    *size = (size_t)end;
    uint8_t *data = malloc(*size > 0 ? *size : 1);
    if (data && fread(data, 1, *size, f) != *size) {
        free(data);
        return NULL;
    }
    return data;
}

// 0, or -1 when the file could not be read.
static int replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t size = 0;
    uint8_t *data = f ? read_all(f, &size) : NULL;
    if (!data)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    if (f)
        fclose(f);
    if (!data)
        return -1;
    printf("%s (%zu bytes)\n", path, size);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed |= replay(argv[i]) != 0;
    printf("%d inputs replayed\n", argc - 1);
    return failed;
}
