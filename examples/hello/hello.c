/* A program small enough to read whole: two strings, a call into the C library, a helper that is inlined and one that isn't. */
#include <stdio.h>

/* So small that the compiler puts it into its caller. */
static inline int square(int n)
{
    return n * n;
}

/* Kept as a function of its own. */
__attribute__((noinline)) static int sum_of_squares(int limit)
{
    int sum = 0;
    for (int n = 1; n <= limit; n++)
        sum += square(n);
    return sum;
}

int main(int argc, char **argv)
{
    puts("Hello from elfscope!");
    for (int n = 1; n < argc; n++)
        puts(argv[n]);
    if (square(argc) > 1)
        puts("Thank you for the words.");
    return sum_of_squares(argc) == 0;
}
