package dev.warmpath.simulator.engine.cache;

import org.jspecify.annotations.Nullable;

/**
 * One physical block. Links belong to the {@link FreeQueue}, everything else to the {@link
 * BlockPool}.
 *
 * <p>Single writer.
 */
final class Block {

  final int id;
  int references;
  @Nullable Key key;
  @Nullable Block previous;
  @Nullable Block next;

  Block(int id) {
    this.id = id;
  }

  /** Under what a committed block is found. Immutable. */
  record Key(long name, int group) {}

  boolean isNull() {
    return id == 0;
  }
}
