/** The logs of requests that are over: one line each, without its text. */
@NullMarked
package dev.warmpath.router.requestlog;

import org.jspecify.annotations.NullMarked;
