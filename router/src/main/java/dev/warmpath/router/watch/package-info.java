/** Files of keys and certificates, read again when they change. */
@NullMarked
package dev.warmpath.router.watch;

import org.jspecify.annotations.NullMarked;
