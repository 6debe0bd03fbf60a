/**
 * Policies that give each candidate a cost, made of what it holds and what it has to do. {@code
 * WarmPolicy} is the default; its {@code Price} is what a prompt costs at an engine.
 */
@NullMarked
package dev.warmpath.router.routing.policy.cost;

import org.jspecify.annotations.NullMarked;
