/** The admin endpoints: what the router knows, and why it would choose whom. */
@NullMarked
package dev.warmpath.router.admin;

import org.jspecify.annotations.NullMarked;
