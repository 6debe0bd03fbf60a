package dev.warmpath.tokenizer.template.syntax;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;

class BudgetTest {

  private final Budget budget = new Budget(new TemplateLimits(100, 1_000, 10));

  @Test
  void nothingGivesBudgetBack() {
    List<LongConsumer> charges =
        List.of(budget::built, budget::elements, budget::scanned, budget::text);
    for (LongConsumer charge : charges) {
      for (long count : new long[] {-1, Integer.MIN_VALUE, Long.MIN_VALUE}) {
        assertThatThrownBy(() -> charge.accept(count))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage("count=" + count);
      }
    }
  }

  @Test
  void hugeCountsAreStopped() {
    List<LongConsumer> charges =
        List.of(budget::built, budget::elements, budget::scanned, budget::text);
    for (LongConsumer charge : charges) {
      for (long count : new long[] {Integer.MAX_VALUE, Long.MAX_VALUE}) {
        assertThatThrownBy(() -> charge.accept(count))
            .isInstanceOf(TemplateException.class)
            .extracting(e -> ((TemplateException) e).kind())
            .isEqualTo(TemplateException.Kind.LIMIT);
      }
    }
  }
}
