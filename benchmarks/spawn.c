/* Floor for starting processes: posix_spawn and wait, `width` children in flight.
   usage: spawn ROUNDS WIDTH PROGRAM ARGUMENTS...   prints children per second */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec / 1e9;
}

int main(int count, char **values)
{
    if (count < 4)
        return 64;
    int rounds = atoi(values[1]), width = atoi(values[2]), started = 0, ended = 0, status;
    double begin = now();
    while (ended < rounds) {
        while (started < rounds && started - ended < width) {
            pid_t child;
            if (posix_spawn(&child, values[3], NULL, NULL, values + 3, environ) != 0)
                return 1;
            started++;
        }
        if (wait(&status) < 0)
            return 1;
        ended++;
    }
    printf("%.1f\n", rounds / (now() - begin));
    return 0;
}
