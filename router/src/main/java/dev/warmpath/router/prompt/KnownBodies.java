package dev.warmpath.router.prompt;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The bodies that are remembered, found by how they begin. When there is no room, the one that was
 * used longest ago goes.
 *
 * <p>Thread-safe.
 */
final class KnownBodies {

  /*
   * A finger stands for the few bytes at every 8,192nd place up to its own. It only finds a
   * candidate: bytes are compared before anything is believed. A body is listed under all of its
   * fingers, and of several bodies with the same the last counts.
   */
  private static final int STEP_BYTES = 8192;

  private static final int WINDOW_BYTES = 64;
  private static final int SHORTEST_BYTES = STEP_BYTES + WINDOW_BYTES;
  private static final long MIX = 0x9e3779b97f4a7c15L;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final long maxBytes;
  private final Map<Long, KnownBody> byFinger = new HashMap<>();
  private final Map<KnownBody, long[]> byUse = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;
  private long evictions;

  KnownBodies(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Whether a body is long enough, and an object in UTF-8 if it is JSON at all. */
  boolean takes(byte[] body) {
    return maxBytes > 0 && body.length >= SHORTEST_BYTES && body[0] == '{' && body[1] != 0;
  }

  /** The fingers of a body that is {@linkplain #takes long enough}. */
  static long[] fingers(byte[] body) {
    long[] fingers = new long[(body.length - WINDOW_BYTES) / STEP_BYTES];
    long finger = window(body, 0, 0);
    for (int i = 0; i < fingers.length; i++) {
      finger = window(body, (i + 1) * STEP_BYTES, finger);
      fingers[i] = finger;
    }
    return fingers;
  }

  private static long window(byte[] body, int from, long seed) {
    long hash = seed;
    for (int at = from; at < from + WINDOW_BYTES; at += Long.BYTES) {
      hash = (hash ^ (long) LONGS.get(body, at)) * MIX;
      hash ^= hash >>> 32;
    }
    return hash;
  }

  /** The body that seems to share the most. */
  synchronized @Nullable KnownBody find(long[] fingers) {
    for (int i = fingers.length - 1; i >= 0; i--) {
      KnownBody found = byFinger.get(fingers[i]);
      if (found != null) {
        byUse.get(found); // used just now
        return found;
      }
    }
    return null;
  }

  /**
   * Remembers a body.
   *
   * @param needless another one that this one stands in for
   */
  synchronized void put(long[] fingers, KnownBody body, @Nullable KnownBody needless) {
    if (needless != null) {
      forget(needless, byUse.remove(needless));
    }
    if (body.weight() > maxBytes) {
      return;
    }
    bytes += body.weight();
    byUse.put(body, fingers);
    for (long finger : fingers) {
      byFinger.put(finger, body);
    }
    Iterator<Map.Entry<KnownBody, long[]>> oldest = byUse.entrySet().iterator();
    while (bytes > maxBytes) {
      Map.Entry<KnownBody, long[]> entry = oldest.next();
      oldest.remove();
      forget(entry.getKey(), entry.getValue());
      evictions++;
    }
  }

  synchronized long bytes() {
    return bytes;
  }

  long maxBytes() {
    return maxBytes;
  }

  synchronized long evictions() {
    return evictions;
  }

  private void forget(KnownBody body, long @Nullable [] fingers) {
    if (fingers == null) {
      return; // another thread did
    }
    bytes -= body.weight();
    for (long finger : fingers) {
      byFinger.remove(finger, body);
    }
  }
}
