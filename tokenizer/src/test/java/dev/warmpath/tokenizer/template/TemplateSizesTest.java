package dev.warmpath.tokenizer.template;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.TemplateException.Kind;
import dev.warmpath.tokenizer.template.syntax.TemplateLimits;
import java.lang.management.ManagementFactory;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every place where a template decides how large something gets, with the numbers that break sums:
 * it ends in a value or a refusal, costs little memory, and never gives budget back.
 */
class TemplateSizesTest {
  private static final TemplateLimits SMALL = new TemplateLimits(1 << 14, 1 << 19, 2000);
  private static final long SMALL_BYTES = 16 << 20;

  /** Texts may be long and elements many, so that both together show what they weigh. */
  private static final TemplateLimits ROOMY = new TemplateLimits(1 << 20, 1 << 22, 2000);

  private static final long BYTES_PER_STEP = 8;

  /** More turns than the small budget has steps, unless something has added to it. */
  private static final String SPEND_THE_REST = "{% for a in range(99999) %}{% endfor %}";

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final List<String> NUMBERS =
      List.of(
          "(-1180591620717411303424)",
          "(-9223372036854775808)",
          "(-9999999999)",
          "(-2147483649)",
          "(-2147483648)",
          "(-2147483647)",
          "(-2)",
          "(-1)",
          "0",
          "1",
          "2147483646",
          "2147483647",
          "2147483648",
          "9999999999",
          "2305843009213693952",
          "9223372036854775807",
          "9223372036854775808",
          "1180591620717411303424",
          "true");

  /** {@code N} stands for the number. */
  private static final List<String> SIZES =
      List.of(
          "range(N)|length",
          "range(N)|list|length",
          "range(0, N)|length",
          "range(N, 0)|length",
          "range(N, N + 3)|list",
          "range(N, 5, 2147483647)|length",
          "range(0, 9, N)|list",
          "range(9, 0, N)|list",
          "range(9)[N]",
          "'x' * N",
          "N * 'x'",
          "'' * N",
          "'x' * N * N",
          "'a\\nb'|indent(N)",
          "'a\\nb'|indent(N, true, true)",
          "'a\\nb'|indent('x' * N)",
          "N + N",
          "N * N",
          "N // -1",
          "7 // N",
          "N % -7",
          "7 / N",
          "-N",
          "'7'|int(0, N)",
          "N|string|int",
          "[1, {'a': 2}]|tojson(indent=N)",
          "[1, {'a': 2}]|tojson(separators=('x' * N, ':'))",
          "'xxx'.replace('x', 'y', N)",
          "'xxx'.replace('', 'y' * N)",
          "'xxx'|replace('x', 'y', N)",
          "'a b c'.split(' ', N)",
          "'a b c'.split(none, N)",
          "'abc'[N]",
          "'abc'[N:N:N]",
          "'a🧪c'[N:]",
          "'a🧪c'[::N]",
          "[1, 2, 3][N]",
          "[1, 2, 3][N:]",
          "[1, 2, 3][::N]",
          "(1, 2, 3)[N:N:N]",
          "'abc'.startswith('b', N)",
          "'abc'.endswith('b', N, N)",
          "'abc'.find('b', N)",
          "N in range(5)",
          "[[1, 2]]|map(attribute=N)|list",
          "['a', 'b']|join('x' * N)",
          "('x' * N).join(['a', 'b'])",
          "strftime_now('%Y' * N)");

  @TestFactory
  Stream<DynamicTest> anyNumberEndsWell() {
    return SIZES.stream()
        .map(size -> DynamicTest.dynamicTest(size, () -> NUMBERS.forEach(n -> endsWell(size, n))));
  }

  private static void endsWell(String size, String number) {
    String template = "{{ " + size.replace("N", number) + " }}";
    long before = THREADS.getCurrentThreadAllocatedBytes();
    outcome(template, SMALL);
    Kind end = outcome(template + SPEND_THE_REST, SMALL);
    assertThat(THREADS.getCurrentThreadAllocatedBytes() - before)
        .as("bytes of %s", template)
        .isLessThan(SMALL_BYTES);
    assertThat(end).as("%s and more than the rest of the budget", template).isNotNull();
  }

  /** Why there is no value, or null. */
  private static Kind outcome(String template, TemplateLimits limits) {
    try {
      ChatTemplate.parse(template, Clock.systemUTC(), limits).render(Map.of());
      return null;
    } catch (TemplateException e) {
      return e.kind();
    } catch (RuntimeException | Error e) {
      throw new AssertionError(template, e);
    }
  }

  /** The text is within its bound each time; what is made of it costs more than its characters. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "('x' * 1000000)|list|length",
        "('x' * 1000000)|map('upper')|list|length",
        "('a ' * 500000).split()|length",
        "('a ' * 500000).split(' ')|length",
        "('a\\n' * 500000)|indent|length",
        "('x' * 1000000)|reverse|length",
        "(('x' * 100000)|list)[1:]|length",
        "(range(99999)|list + range(99999)|list + range(99999)|list)|length",
        "(['\\x01' * 1000000])|string|length",
        "('\\x01' * 1000000)|tojson|length",
        "('ÿ' * 300000)|tojson(ensure_ascii=true)|length",
      })
  void whatIsMadeOfATextIsWeighed(String expression) {
    String template = "{{ " + expression + " }}";
    outcome(template, SMALL);
    long before = THREADS.getCurrentThreadAllocatedBytes();
    outcome(template, ROOMY);
    assertThat(THREADS.getCurrentThreadAllocatedBytes() - before)
        .isLessThan(BYTES_PER_STEP * ROOMY.steps());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{% for c in ('x' * 1000000)|select %}{{ loop.length }}{% break %}{% endfor %}",
        "{% set x = ('x' * 200000)|list %}{% for a in range(9) %}{% set y = x[1:] %}{% endfor %}",
        "{% for a in range(99) %}{% set y = [1, 2]|tojson(separators=('x' * 99999, ':')) %}"
            + "{% endfor %}",
        "{% for a in range(99) %}{% set y = strftime_now('%Y' * 9999) %}{% endfor %}",
      })
  void whatIsMadeAgainAndAgainIsWeighed(String template) {
    assertThat(outcome(template, ROOMY)).isEqualTo(Kind.LIMIT);
  }
}
