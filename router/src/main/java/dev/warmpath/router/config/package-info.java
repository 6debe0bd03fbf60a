/** The router's configuration: the keys that there are, by section, and the checks of each. */
@NullMarked
package dev.warmpath.router.config;

import org.jspecify.annotations.NullMarked;
