package dev.warmpath.tokenizer.template;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.tokenizer.template.syntax.TemplateLimits;
import java.time.Clock;
import org.junit.jupiter.api.Test;

class TemplateCacheTest {

  private final TemplateCache cache = new TemplateCache(Clock.systemUTC(), TemplateLimits.DEFAULT);

  @Test
  void keepsWhatWasAskedForLastAndNothingLong() {
    ChatTemplate first = cache.of("{{ 0 }}");
    for (int i = 1; i < 100; i++) {
      cache.of("{{ " + i + " }}");
      assertThat(cache.of("{{ 0 }}")).isSameAs(first);
    }
    assertThat(cache.size()).isEqualTo(64);
    String longOne = "x".repeat(1 << 17);
    assertThat(cache.of(longOne)).isNotSameAs(cache.of(longOne));
    assertThat(cache.of("{{ 0 }}")).isSameAs(first);
  }
}
