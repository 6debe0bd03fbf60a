package dev.warmpath.simulator.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.simulator.engine.CachedSequence.BlockTable;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** How far a sequence can grow without the cache is what growing it token by token shows. */
class UntouchedTokensTest {

  @Property(tries = 300)
  void countTheTokensThatChangeNothing(
      @ForAll @IntRange(min = 1, max = 12) int size,
      @ForAll @IntRange(min = 1, max = 60) int window,
      @ForAll @IntRange(min = 1, max = 80) int prompt) {
    CacheGroup full = new CacheGroup(0, CacheGroup.Kind.FULL_ATTENTION, size, 0);
    CacheGroup sliding = new CacheGroup(1, CacheGroup.Kind.SLIDING_WINDOW, size, window);
    KvCacheConfig config = new KvCacheConfig(size, 1000, List.of(full, sliding));
    KvCache cache = new KvCache(config, new Changes());
    CachedSequence sequence = new CachedSequence(block -> block, prompt);
    assertThat(cache.allocate(sequence, cache.noHit(), 0, prompt)).isTrue();
    for (int computed = prompt; computed < prompt + 100; computed++) {
      int untouched = cache.untouchedTokens(sequence, computed);
      String before = state(sequence);
      assertThat(cache.allocate(sequence, cache.noHit(), computed, computed + 1)).isTrue();
      assertThat(state(sequence).equals(before)).as("at %s", computed).isEqualTo(untouched > 0);
      if (untouched > 0) {
        assertThat(cache.untouchedTokens(sequence, computed + 1)).isEqualTo(untouched - 1);
      }
    }
  }

  private static String state(CachedSequence sequence) {
    StringBuilder state = new StringBuilder();
    for (BlockTable table : sequence.tables) {
      state.append(table.size()).append(' ').append(table.passed).append(' ');
      state.append(table.committed).append(' ');
    }
    return state.toString();
  }

  private static final class Changes implements CacheListener {
    @Override
    public void stored(CachedSequence sequence, CacheGroup group, int from, int to, int held) {}

    @Override
    public void removed(int group, long blockName) {}

    @Override
    public void cleared() {}
  }
}
