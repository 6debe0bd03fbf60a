package dev.warmpath.router.tokenize;

import dev.warmpath.tokenizer.RequestKind;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Bodies of requests under way, so that one whose length is counted otherwise can be looked into.
 * The oldest give way to new ones.
 *
 * <p>Thread-safe.
 */
final class RecentBodies {

  /** A request as it came. Immutable, if nobody changes the bytes. */
  static final class Body {
    private final String model;
    private final RequestKind kind;
    private final byte[] bytes;

    Body(String model, RequestKind kind, byte[] bytes) {
      this.model = model;
      this.kind = kind;
      this.bytes = bytes;
    }

    String model() {
      return model;
    }

    RequestKind kind() {
      return kind;
    }

    /** The bytes, not to be changed. */
    byte[] bytes() {
      return bytes;
    }
  }

  /** Keys are compared by identity: to hash what they hold would cost as much as the prompt. */
  private static final class Same {
    private final Object key;

    Same(Object key) {
      this.key = key;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // that is what this class is for
    public boolean equals(@Nullable Object other) {
      return other instanceof Same same && same.key == key;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(key);
    }
  }

  private final long limitBytes;
  private final Map<Same, Body> bodies = new LinkedHashMap<>();
  private long heldBytes;

  RecentBodies(long limitBytes) {
    this.limitBytes = limitBytes;
  }

  /** Keeps the body under {@code key}, which is compared by identity. */
  synchronized void put(Object key, Body body) {
    take(key);
    bodies.put(new Same(key), body);
    heldBytes += body.bytes().length;
    Iterator<Body> oldest = bodies.values().iterator();
    while (heldBytes > limitBytes && oldest.hasNext()) {
      heldBytes -= oldest.next().bytes().length;
      oldest.remove();
    }
  }

  /** Removes and returns what is under {@code key}; null if nothing is. */
  synchronized @Nullable Body take(Object key) {
    Body body = bodies.remove(new Same(key));
    if (body != null) {
      heldBytes -= body.bytes().length;
    }
    return body;
  }

  synchronized long heldBytes() {
    return heldBytes;
  }

  long limitBytes() {
    return limitBytes;
  }
}
