/** Files of keys, certificates and the configuration, read again when they change. */
@NullMarked
package dev.warmpath.router.watch;

import org.jspecify.annotations.NullMarked;
