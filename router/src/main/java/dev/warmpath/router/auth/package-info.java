/** Who may use the router, and how much. */
@NullMarked
package dev.warmpath.router.auth;

import org.jspecify.annotations.NullMarked;
