/** Policies that give each candidate one number, made of what it holds and what it has to do. */
@NullMarked
package dev.warmpath.router.routing.policy.cost;

import org.jspecify.annotations.NullMarked;
