package dev.warmpath.kvindex.runs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table of engine hashes against a map, with many blocks and many of the same hash. */
class HashTableTest {

  private final ByteBudget budget = new ByteBudget(Long.MAX_VALUE);
  private final SlabColumns columns = new SlabColumns(budget);
  private final HashTable table = new HashTable(budget, columns, 0x9E3779B97F4A7C15L);
  private final Map<Long, Set<Integer>> expected = new HashMap<>();
  private final List<Integer> slabs = new ArrayList<>();
  private int hashes;
  private int shift;
  private long size;

  /** Few hashes have many blocks each; shifted ones differ in their upper bits alone. */
  @ParameterizedTest
  @CsvSource({
    "3, 0, 2_000",
    "500, 0, 20_000",
    "500, 32, 20_000",
    "100_000, 0, 50_000",
    "100_000, 32, 50_000",
    "1_000_000, 0, 150_000"
  })
  void findsWhatAMapFinds(String hashes, int shift, String steps) {
    this.shift = shift;
    this.hashes = Integer.parseInt(hashes.replace("_", ""));
    Random random = new Random(1);
    int end = Integer.parseInt(steps.replace("_", ""));
    for (int step = 0; step < end; step++) {
      boolean grows = step % 8_000 < 5_000;
      if (slabs.isEmpty() || random.nextInt(10) < (grows ? 8 : 3)) {
        store(random);
      } else {
        drop(random);
      }
      if (step % 5_000 == 0) {
        check();
      }
    }
    check();
  }

  @Test
  void roomKeptInAdvanceChangesNothingElse() {
    hashes = 1_000_000;
    table.reserve(8 * 2_000);
    long reserved = table.bytes();
    Random random = new Random(2);
    for (int i = 0; i < 2_000; i++) {
      store(random);
    }
    check();
    assertThat(table.bytes()).as("it had room").isLessThanOrEqualTo(reserved + reserved / 4);
    for (int i = 0; i < 20_000; i++) {
      store(random);
    }
    check();
  }

  private void store(Random random) {
    int slab = columns.allocate(1);
    slabs.add(slab);
    for (int block = 0; block < SlabColumns.BLOCKS; block++) {
      long hash = (long) random.nextInt(hashes) << shift;
      columns.hashes(slab)[SlabColumns.at(slab) + block] = hash;
      boolean isNew = expected.getOrDefault(hash, Set.of()).isEmpty();
      assertThat(table.add(slab, block, block + 1)).isEqualTo(isNew ? 1 : 0);
      if (!isNew) {
        table.addTwin(slab, block);
      }
      expected.computeIfAbsent(hash, any -> new HashSet<>()).add(slab * SlabColumns.BLOCKS + block);
      size++;
    }
  }

  private void drop(Random random) {
    int at = random.nextInt(slabs.size());
    int slab = slabs.get(at);
    int gone =
        random.nextBoolean() ? columns.listed(slab) : random.nextInt(256) & columns.listed(slab);
    table.remove(slab, gone);
    for (int block = 0; block < SlabColumns.BLOCKS; block++) {
      if ((gone >>> block & 1) != 0) {
        long hash = columns.hashes(slab)[SlabColumns.at(slab) + block];
        expected.get(hash).remove(slab * SlabColumns.BLOCKS + block);
        size--;
      }
    }
    if (columns.listed(slab) == 0) {
      columns.release(slab);
      slabs.set(at, slabs.get(slabs.size() - 1));
      slabs.remove(slabs.size() - 1);
    }
  }

  private void check() {
    assertThat(table.size()).isEqualTo(size);
    for (int i = 0; i < hashes; i += 1 + hashes / 3_000) {
      long hash = (long) i << shift;
      Set<Integer> found =
          IntStream.range(0, table.find(hash))
              .map(table::found)
              .boxed()
              .collect(Collectors.toSet());
      assertThat(found).isEqualTo(expected.getOrDefault(hash, Set.of()));
    }
  }
}
