/** What the heads of requests and responses say, and what of them is passed on. */
@NullMarked
package dev.warmpath.router.proxy.head;

import org.jspecify.annotations.NullMarked;
