/** The prefixes of prompts that saved most tokens. */
@NullMarked
package dev.warmpath.router.console.prefix;

import org.jspecify.annotations.NullMarked;
