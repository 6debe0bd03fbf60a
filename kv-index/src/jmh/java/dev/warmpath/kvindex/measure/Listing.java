package dev.warmpath.kvindex.measure;

import dev.warmpath.kvindex.runs.ByteBudget;
import dev.warmpath.kvindex.runs.HashTable;
import dev.warmpath.kvindex.runs.SlabColumns;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * What it costs to list one engine hash and to take another one out, with nothing around it: no
 * store can be faster than the one, no removal than the other.
 *
 * <p>Confined to one thread.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class Listing {

  private static final int SLABS = 8;
  private static final int BLOCKS = SLABS * SlabColumns.BLOCKS;
  private static final int ALL = (1 << SlabColumns.BLOCKS) - 1;

  /** Listed all the time. 512 fit into a first-level cache, 16,384 into a second-level one. */
  @Param({"512", "16384", "262144", "4194304"})
  public int blocks;

  private final SplittableRandom hashes = new SplittableRandom(1);
  private final long[] fresh = new long[BLOCKS];
  private SlabColumns columns;
  private HashTable table;
  private int[] ring;
  private int oldest;

  /** Lists as many as shall stay. */
  @Setup
  public void fill() {
    ByteBudget budget = new ByteBudget(Long.MAX_VALUE);
    columns = new SlabColumns(budget);
    table = new HashTable(budget, columns, hashes.nextLong());
    ring = new int[blocks / SlabColumns.BLOCKS];
    for (int i = 0; i < ring.length; i += SLABS) {
      list();
    }
  }

  /** 64 in, as a store lists them, and 64 out, as a removal does. */
  @Benchmark
  @OperationsPerInvocation(BLOCKS)
  public void inAndOut() {
    for (int i = 0; i < SLABS; i++) {
      int slab = ring[oldest + i];
      int at = SlabColumns.at(slab);
      table.prefetch(columns.hashes(slab), at, at + SlabColumns.BLOCKS);
      table.remove(slab, ALL);
      columns.release(slab);
    }
    list();
  }

  private void list() {
    for (int i = 0; i < BLOCKS; i++) {
      fresh[i] = hashes.nextLong();
    }
    table.prefetch(fresh, 0, BLOCKS);
    for (int i = 0; i < SLABS; i++) {
      int slab = columns.allocate(1);
      System.arraycopy(
          fresh,
          i * SlabColumns.BLOCKS,
          columns.hashes(slab),
          SlabColumns.at(slab),
          SlabColumns.BLOCKS);
      table.add(slab, 0, SlabColumns.BLOCKS);
      ring[oldest] = slab;
      oldest = (oldest + 1) % ring.length;
    }
  }
}
