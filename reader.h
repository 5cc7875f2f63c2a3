/* reader.h - one file of the host, read again while nothing else can be
 * Knows: a process that keeps the view of the file system.
 * Does not know: what the text means, when it is worth reading.
 *
 * Unlike an agent (agent.h) it makes no sockets, has no capability, and may
 * open files for reading only. It knows one path, from start: a request is one
 * byte, an answer the text. It ends at the EOF of its socket. */

#ifndef READER_H
#define READER_H

#include <stddef.h>
#include <sys/types.h>

#define READER_MAX 16384 /* bytes of text, terminator included */

/**
 * reader_start() - fork a reader
 * @path:  absolute, borrowed; may be replaced, or a link, at any time
 * @setup: runs in the reader before it is locked in: takes its identity
 * @ret_sock: socket for the calls below, readable once an answer is there
 * Returns: 0 or -errno, also if the reader failed
 */
int reader_start(const char *path, void (*setup)(void *arg), void *arg,
		 int *ret_sock);

/** reader_ask() - let the file be read; does not wait; returns 0 or -errno */
int reader_ask(int sock);

/**
 * reader_take() - what the file said, "" if it cannot be read; does not wait
 * @text: terminated
 * Returns: 0, -EAGAIN if there is no answer yet, -EPIPE if the reader is dead
 */
int reader_take(int sock, char text[static READER_MAX]);

#endif
