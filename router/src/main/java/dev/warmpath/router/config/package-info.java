/** The router's configuration: YAML and flags read into validated records. */
@NullMarked
package dev.warmpath.router.config;

import org.jspecify.annotations.NullMarked;
