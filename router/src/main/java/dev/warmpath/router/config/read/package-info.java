/**
 * Reads YAML into validated records, whatever the records are: each component that is annotated as
 * a key has its default, bounds and meaning there.
 */
@NullMarked
package dev.warmpath.router.config.read;

import org.jspecify.annotations.NullMarked;
