package dev.warmpath.tokenizer.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.Statement;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.TemplateException.Kind;
import dev.warmpath.tokenizer.template.syntax.TemplateLimits;
import dev.warmpath.tokenizer.template.syntax.TemplateParser;
import java.lang.management.ManagementFactory;
import java.time.Clock;
import java.util.AbstractList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Templates that mean harm, or nothing at all, end within their bounds. */
class TemplateBoundsTest {

  /** Of a thread's own time, which a busy machine does not stretch. */
  private static final long HANG_NANOS = TimeUnit.SECONDS.toNanos(60);

  private static final TemplateLimits SMALL = new TemplateLimits(1 << 14, 1 << 19, 2000);
  private static final List<String> PIECES =
      List.of(
          "{{",
          "}}",
          "{%",
          "%}",
          "{#",
          "#}",
          "{%-",
          "-%}",
          "\n",
          " ",
          "if",
          "else",
          "elif",
          "endif",
          "for",
          "in",
          "endfor",
          "set",
          "endset",
          "macro",
          "endmacro",
          "call",
          "endcall",
          "filter",
          "endfilter",
          "x",
          "y",
          "messages",
          "m",
          "loop",
          "loop.index",
          "ns",
          "is",
          "not",
          "and",
          "or",
          "defined",
          "string",
          "(",
          ")",
          "[",
          "]",
          "{",
          "}",
          ",",
          ":",
          ".",
          "|",
          "~",
          "+",
          "-",
          "*",
          "/",
          "//",
          "%",
          "**",
          "==",
          "!=",
          "<",
          ">",
          "=",
          "1",
          "0",
          "99999999999",
          "1.5",
          "'a'",
          "\"b\"",
          "'%s'",
          "none",
          "true",
          "range(9)",
          "namespace()",
          "tojson",
          "length",
          "upper",
          "join",
          "map('upper')",
          "first",
          "list",
          "items",
          "replace",
          ".items()",
          ".split('a')",
          ".strip()",
          "[::-1]",
          "[1:]",
          "{{ x }}",
          "{{ m.role }}",
          "{% for m in messages %}",
          "{% endfor %}",
          "{% if x %}",
          "{% endif %}",
          "{% set x = x ~ x %}",
          "{% set y = [y] %}",
          "{% macro m(x) %}",
          "{% endmacro %}",
          "{{ m(x) }}",
          "{% generation %}",
          "{% endgeneration %}",
          "{% raw %}",
          "{% endraw %}");

  @Provide
  Arbitrary<String> templates() {
    return Arbitraries.of(PIECES)
        .list()
        .ofMaxSize(30)
        .map(pieces -> pieces.stream().collect(Collectors.joining(" ")));
  }

  @Provide
  Arbitrary<Object> values() {
    Arbitrary<Object> leaves =
        Arbitraries.of("", "a", "🧪 b\n", 0L, -7L, 3, 1.5, true, Long.MAX_VALUE, List.of());
    Arbitrary<Object> lists = leaves.list().ofMaxSize(3).map(list -> (Object) list);
    Arbitrary<Object> inner = Arbitraries.oneOf(leaves, lists);
    Arbitrary<Object> maps =
        Arbitraries.maps(Arbitraries.of("role", "content", "x", "items"), inner)
            .ofMaxSize(3)
            .map(map -> (Object) map);
    return Arbitraries.oneOf(leaves, lists, maps, maps.list().ofMaxSize(2).map(list -> list));
  }

  @Property(tries = 1500, edgeCases = EdgeCasesMode.NONE)
  void piecesOfTemplates(@ForAll("templates") String template, @ForAll("values") Object value) {
    endsWell(template, value);
  }

  @Property(tries = 300, edgeCases = EdgeCasesMode.NONE)
  void anyText(@ForAll String template, @ForAll("values") Object value) {
    endsWell(template, value);
    endsWell("{{ " + template + " }}", value);
  }

  private static void endsWell(String template, Object value) {
    Map<String, Object> variables = new HashMap<>();
    variables.put("x", value);
    variables.put("y", null);
    variables.put("messages", List.of(Map.of("role", "user", "content", "hi"), value));
    try {
      ChatTemplate parsed = ChatTemplate.parse(template, Clock.systemUTC(), SMALL);
      assertThat(parsed.render(variables)).hasSizeLessThan(1 << 16);
      parsed.iteratesContent();
      parsed.variables();
    } catch (TemplateException e) {
      assertThat(e.getMessage()).isNotEmpty();
    }
  }

  private static Kind kind(String template) {
    return catchThrowableOfType(
            TemplateException.class,
            () -> ChatTemplate.parse(template, Clock.systemUTC(), SMALL).render(Map.of("x", "ab")))
        .kind();
  }

  @Test
  void aRenderWhoseThreadIsInterruptedIsGivenUp() {
    ChatTemplate template =
        ChatTemplate.parse(
            "{% for i in range(9999) %}{% endfor %}", Clock.systemUTC(), TemplateLimits.DEFAULT);
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> template.render(Map.of())).isInstanceOf(CancellationException.class);
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
    assertThat(template.render(Map.of())).isEmpty();
  }

  @Test
  void aParseWhoseThreadIsInterruptedIsGivenUp() {
    String template = "{{ a }}".repeat(30_000);
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> ChatTemplate.parse(template))
          .isInstanceOf(CancellationException.class);
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void aCompilationWhoseThreadIsInterruptedIsGivenUp() {
    Budget budget = new Budget(TemplateLimits.DEFAULT);
    Statement.Scoped tree =
        TemplateParser.parse(
            "{% for a in x %}".repeat(100) + "{{ loop.index }}{% endfor %}".repeat(100), budget);
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> ChatTemplate.Program.compile(tree, budget))
          .isInstanceOf(CancellationException.class);
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void aTemplateLongerThanAnyIsRefusedUnread() {
    String template = "{{a}}".repeat(800_000);
    TemplateException refusal =
        endsSoon(() ->
            catchThrowableOfType(TemplateException.class, () -> ChatTemplate.parse(template)));
    assertThat(refusal).hasMessage("a template of 4000000 characters, more than 262144");
    assertThat(refusal.kind()).isEqualTo(Kind.LIMIT);
    assertThat(ChatTemplate.parse("x".repeat(1 << 18)).render(Map.of())).hasSize(1 << 18);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "(y ~ 'b') in x",
        "(y ~ 'b') in x|safe",
        "x.find(y ~ 'b')",
        "x.replace(y ~ 'b', '')",
        "x.split(y ~ 'b')",
        "x.strip('b' * 1000000 ~ 'a')",
      })
  void aSearchForWhatNearlyFitsEverywhereIsStopped(String search) {
    String variables = "{% set x = 'a' * 2000000 %}{% set y = 'a' * 1000000 %}";
    String template = variables + "{{ (" + search + ")|string|length }}";
    TemplateLimits limits = new TemplateLimits(1 << 22, 1 << 23, 2000);
    endsSoon(() -> {
      ChatTemplate parsed = ChatTemplate.parse(template, Clock.systemUTC(), limits);
      return catchThrowableOfType(TemplateException.class, () -> parsed.render(Map.of()));
    });
  }

  /** What goes over the rest of the line for each word takes minutes for this. */
  @Test
  void aLongLineIsReadInOnePass() {
    String template = "{{a}}".repeat(20_000) + "x".repeat(24 << 20);
    Budget budget = new Budget(TemplateLimits.DEFAULT);
    endsSoon(() -> TemplateParser.parse(template, budget));
  }

  /** What goes over all loops, assignments or calls for each takes minutes for these. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{%for a@ in messages%}{%endfor%}",
        "{%set b$=b@%}",
        "{%macro m(c)%}{%endmacro%}{{m(x)}}",
      })
  void loopsOverContentAreFoundInOnePass(String piece) {
    StringBuilder template = new StringBuilder("{%set b0=messages%}");
    for (int i = 0; template.length() < 1_500_000; i++) {
      template.append(piece.replace("@", "" + i).replace("$", "" + (i + 1)));
    }
    Budget budget = new Budget(TemplateLimits.DEFAULT);
    endsSoon(
        () -> ContentFormat.iteratesContent(TemplateParser.parse(template.toString(), budget)));
  }

  /** What comes of it, unless it takes as long as what must never happen. */
  private static <T> T endsSoon(Callable<T> work) {
    FutureTask<T> task = new FutureTask<>(work);
    Thread thread = new Thread(task, "bounded");
    thread.setDaemon(true);
    thread.start();
    while (true) {
      try {
        return task.get(100, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        if (ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId()) > HANG_NANOS) {
          thread.interrupt();
          throw new AssertionError("it does not end", e);
        }
      } catch (InterruptedException | ExecutionException e) {
        throw new AssertionError(e);
      }
    }
  }

  /** A list that cannot be read, as when the machine is out of what reading takes. */
  private static List<Object> failing(VirtualMachineError error) {
    return new AbstractList<>() {
      @Override
      public Object get(int index) {
        throw error;
      }

      @Override
      public int size() {
        return 1;
      }
    };
  }

  @ParameterizedTest
  @ValueSource(classes = {OutOfMemoryError.class, StackOverflowError.class})
  void aRenderThatTheMachineCannotCarryIsRefused(Class<? extends VirtualMachineError> error)
      throws ReflectiveOperationException {
    Map<String, Object> variables =
        Map.of("x", failing(error.getDeclaredConstructor().newInstance()));
    ChatTemplate template = ChatTemplate.parse("a{% for y in x %}{{ y }}{% endfor %}");
    List<Function<Map<String, Object>, String>> renders =
        List.of(template::render, template::renderStock);
    for (Function<Map<String, Object>, String> render : renders) {
      assertThatThrownBy(() -> render.apply(variables))
          .isInstanceOf(TemplateException.class)
          .extracting(e -> ((TemplateException) e).kind())
          .isEqualTo(Kind.LIMIT);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}xxxxxxxxxx{% endfor %}",
        "{{ 'a' * 999999999 }}",
        "{{ 'a'|indent(999999999) }}",
        "{{ [1]|tojson(indent=99999999) }}",
        "{% set n = namespace(s='ab') %}{% for i in range(99) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
        "{% set n = namespace(s='a') %}{% for i in range(99) %}"
            + "{% set n.s = n.s.replace('a', 'aaaaaaa') %}{% endfor %}",
        "{% set n = namespace(s=[]) %}{% for i in range(9999) %}{% set n.s = [n.s] %}{% endfor %}"
            + "{{ n.s }}",
        "{% set n = namespace(s=[]) %}{% for i in range(9999) %}{% set n.s = [n.s] %}{% endfor %}"
            + "{{ n.s|tojson }}",
        "{% set n = namespace(a=[], b=[]) %}{% for i in range(9999) %}{% set n.a = [n.a] %}"
            + "{% set n.b = [n.b] %}{% endfor %}{{ n.a == n.b }}",
        "{% set n = namespace() %}{% set n.n = n %}{{ n }}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
        "{% macro a() %}{% call a() %}{{ caller() }}{% endcall %}{% endmacro %}{{ a() }}",
      })
  void harmIsStopped(String template) {
    assertThat(kind(template)).isEqualTo(Kind.LIMIT);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "(",
        "[",
        "-",
        "not ",
        "{1:",
        "x(",
        "x[",
        "x.y(",
        "x if ",
        "x|f(",
        "{'a':[",
        "x is in ("
      })
  void deepNestingIsStoppedInTheParser(String opening) {
    assertThat(kind("{{ " + opening.repeat(20_000))).isEqualTo(Kind.SYNTAX);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "+x",
        "~x",
        " and x",
        "|upper",
        ".a",
        "[0]",
        "()",
        " == x",
        " if x else x",
        " is x is x",
        "**x",
        "*x",
        " in x",
        " or x"
      })
  void longChainsEndWell(String link) {
    endsWell("{{ x" + link.repeat(20_000) + " }}", "a");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{% if x %}", "{% for a in x %}", "{% macro m() %}", "{% filter upper %}", "{% set y %}",
        "{% with %}", "{% call x() %}", "{% generation %}", "{% block a %}", "{% elif x %}"
      })
  void deepBlocksAreStoppedInTheParser(String opening) {
    assertThat(kind(opening.repeat(10_000))).isEqualTo(Kind.SYNTAX);
  }
}
