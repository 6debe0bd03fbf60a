package dev.warmpath.router.routing;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A ring of 2^64 places on which each name has {@value #POINTS} points of its own.
 *
 * <p>The ring is not kept as one list: a name's points follow from the name alone, and who comes
 * first clockwise from a key is who has the smallest distance. So nothing is rebuilt when names
 * come and go.
 *
 * <p>Thread-safe.
 */
final class HashRing {

  private static final int POINTS = 128;
  private static final int MOST_NAMES = 4096;
  private static final double RING = 0x1p64;

  /** The points of names seen, which could as well be computed again; emptied when full. */
  private final Map<String, long[]> pointsOf = new ConcurrentHashMap<>();

  /**
   * From {@code key} clockwise to the next point of {@code name}, as a part of the ring below 1.
   */
  double distance(String name, long key) {
    long[] points = points(name);
    int place = Arrays.binarySearch(points, key);
    int next = place >= 0 ? place : (-place - 1) % points.length;
    return unsigned(points[next] - key) / RING;
  }

  private long[] points(String name) {
    if (pointsOf.size() >= MOST_NAMES) {
      pointsOf.clear();
    }
    return pointsOf.computeIfAbsent(name, HashRing::pointsFor);
  }

  private static long[] pointsFor(String name) {
    long[] points = new long[POINTS];
    long seed = hash(name);
    for (int i = 0; i < POINTS; i++) {
      seed += 0x9e3779b97f4a7c15L;
      points[i] = mix(seed);
    }
    Arrays.sort(points);
    return points;
  }

  /** The place of a text on the ring: FNV-1a over its characters, then mixed. */
  static long hash(String text) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < text.length(); i++) {
      hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
    }
    return mix(hash);
  }

  /** Spreads a number over the whole ring; the finalizer of SplitMix64. */
  static long mix(long value) {
    long mixed = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    return mixed ^ (mixed >>> 31);
  }

  private static double unsigned(long value) {
    double half = (value >>> 1) * 2.0;
    return half + (value & 1);
  }
}
