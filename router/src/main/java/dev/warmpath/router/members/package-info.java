/**
 * Which replicas there are: sources name them, one class takes them into the fleet and lets them
 * go.
 */
@NullMarked
package dev.warmpath.router.members;

import org.jspecify.annotations.NullMarked;
