/** Finds what an engine reports about a request in a response that passes by. */
@NullMarked
package dev.warmpath.router.proxy.usage;

import org.jspecify.annotations.NullMarked;
