package dev.warmpath.kvindex.model;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The name of a block: its place in the tree of all prompts, and so its whole path from the root.
 *
 * <p>Confined to one model.
 */
final class Name {

  final @Nullable Name parent;
  final long localHash;
  private final Map<Long, Name> children = new HashMap<>();

  private Name(@Nullable Name parent, long localHash) {
    this.parent = parent;
    this.localHash = localHash;
  }

  /** What stands above the roots of all spaces. */
  static Name top() {
    return new Name(null, 0);
  }

  /** The name behind this one; below the top, {@code localHash} is a root key. */
  Name child(long localHash) {
    return children.computeIfAbsent(localHash, hash -> new Name(this, hash));
  }
}
