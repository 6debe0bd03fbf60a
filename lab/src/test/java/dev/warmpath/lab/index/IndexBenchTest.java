package dev.warmpath.lab.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class IndexBenchTest {

  private final List<String> said = new ArrayList<>();

  @Test
  void seesThatAnIndexForgetsToRemove() throws Exception {
    Corpus corpus =
        Corpus.of(Corpora.cell(Corpora.SyntheticCell.HOLES, new Corpora.CellOptions(3, 80, null)));
    IndexBench bench = new IndexBench(IndexBenchTest::forgetful, Thread::new, said::add);
    assertThat(bench.round(corpus).exact()).isFalse();
    assertThat(said).anyMatch(line -> line.startsWith("interleaved queries: answered "));
    assertThat(said).anyMatch(line -> line.startsWith("final queries: answered "));
  }

  /** An index that takes no removals. */
  private static KvIndex forgetful() {
    KvIndex index = new RunKvIndex(IndexLimits.unbounded(1000));
    return (KvIndex)
        Proxy.newProxyInstance(
            KvIndex.class.getClassLoader(),
            new Class<?>[] {KvIndex.class},
            (proxy, method, args) ->
                method.getName().equals("removed") ? null : method.invoke(index, args));
  }
}
