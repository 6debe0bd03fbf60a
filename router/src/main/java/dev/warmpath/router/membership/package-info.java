/** Which replicas there shall be, by who names them, and how the fleet is made to follow that. */
@NullMarked
package dev.warmpath.router.membership;

import org.jspecify.annotations.NullMarked;
