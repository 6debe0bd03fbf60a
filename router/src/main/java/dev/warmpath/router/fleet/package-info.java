/**
 * The replicas, their health, and what is known of their engines.
 *
 * <p>{@code Fleet} is the list that everybody reads; {@code members.Membership} alone changes it
 * while the process runs. A {@code Replica} has an engine for each of its data-parallel ranks,
 * whose state is in {@code engine}: what this router has sent is {@code EngineState.reserve}, what
 * other routers have sent {@code EngineState.book}, what anybody else has {@code
 * Replica.otherLoad}; {@code dispatch} chooses among them, {@code match} asks the index.
 */
@NullMarked
package dev.warmpath.router.fleet;

import org.jspecify.annotations.NullMarked;
