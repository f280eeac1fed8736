/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void put_string(const char *text, size_t length, FILE *out)
{
    putc('"', out);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < ' ')
            fprintf(out, "\\u%04x", c);
        else
            putc(c, out);
    }
    putc('"', out);
}

void json_string(const char *text, FILE *out)
{
    if (text && *text)
        put_string(text, strlen(text), out);
    else
        fputs("null", out);
}

/* As JSON spells numbers: no sign but a minus, no zero in front, digits on both sides of a point. */
static bool is_number(const char *text, size_t length)
{
    size_t i = 0;
    if (i < length && text[i] == '-')
        i++;
    size_t whole = i;
    while (i < length && isdigit((unsigned char)text[i]))
        i++;
    if (i == whole || (text[whole] == '0' && i > whole + 1))
        return false;
    if (i < length && text[i] == '.') {
        size_t digits = ++i;
        while (i < length && isdigit((unsigned char)text[i]))
            i++;
        if (i == digits)
            return false;
    }
    if (i < length && (text[i] == 'e' || text[i] == 'E')) {
        i++;
        if (i < length && (text[i] == '-' || text[i] == '+'))
            i++;
        size_t digits = i;
        while (i < length && isdigit((unsigned char)text[i]))
            i++;
        if (i == digits)
            return false;
    }
    return i == length;
}

/* The field at `at`, up to a comma or the end of the line; returned is what follows it, or NULL at the end. */
static const char *field(const char *at, const char *end, size_t *length)
{
    const char *comma = memchr(at, ',', (size_t)(end - at));
    *length = (size_t)((comma ? comma : end) - at);
    return comma ? comma + 1 : NULL;
}

/* Names that look like numbers stay names: a run is one. */
static bool is_name(const char *column, size_t length)
{
    static const char *const names[] = {"run",    "machine", "version", "commit", "compute_capability",
                                        "driver", "runtime", "cub"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && !memcmp(names[i], column, length))
            return true;
    return false;
}

int json_of_csv(const char *csv, FILE *out)
{
    const char *header_end = strchr(csv, '\n');
    int number = 1;
    if (!header_end)
        return 1;
    putc('[', out);
    for (const char *line = header_end + 1, *end; *line; line = end + 1) {
        const char *name = csv, *value = line;
        number++;
        end = strchr(line, '\n');
        if (!end)
            return number;
        fputs(number == 2 ? "\n  {" : ",\n  {", out);
        for (int i = 0; name && value; i++) {
            size_t name_length, value_length;
            const char *next_name = field(name, header_end, &name_length), *next = field(value, end, &value_length);
            fputs(i ? ", " : "", out);
            put_string(name, name_length, out);
            fputs(": ", out);
            if (!value_length)
                fputs("null", out);
            else if (is_number(value, value_length) && !is_name(name, name_length))
                fwrite(value, 1, value_length, out);
            else
                put_string(value, value_length, out);
            name = next_name;
            value = next;
        }
        if (name || value)
            return number;
        putc('}', out);
    }
    fputs(number == 1 ? "]" : "\n]", out);
    return ferror(out) ? -1 : 0;
}

int json_of_csv_file(const char *path, FILE *out)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t length = 0;
    if (!file)
        return -1;
    ssize_t got = getdelim(&text, &length, '\0', file);
    int failed = got < 0 ? 1 : json_of_csv(text, out); /* an empty file has no header */
    free(text);
    fclose(file);
    return failed;
}
