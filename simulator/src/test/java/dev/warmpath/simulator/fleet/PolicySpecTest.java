package dev.warmpath.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.routing.Policies;
import dev.warmpath.router.routing.SplitRule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

final class PolicySpecTest {

  static java.util.List<String> names() {
    return Policies.names();
  }

  @ParameterizedTest
  @MethodSource("names")
  void everyPolicyByItsName(String name) {
    assertThat(PolicySpec.make(name).name()).isEqualTo(name);
  }

  @Test
  void aNewOneEachTime() {
    assertThat(PolicySpec.make("preble")).isNotSameAs(PolicySpec.make("preble"));
  }

  @Test
  void optionsFollowTheName() {
    assertThat(PolicySpec.make("dynamo:overlap-credit=0.5:overlap-decay=1").name())
        .isEqualTo("dynamo");
  }

  @Test
  void rulesAreWrittenLikePolicies() {
    SplitRule rule = PolicySpec.rule("prompt-tokens:min-tokens=4096");
    assertThat(rule.splits(new SplitRule.Ways(4096, 0, 0, 0, 0))).isTrue();
    assertThat(rule.splits(new SplitRule.Ways(4095, 0, 0, 0, 0))).isFalse();
    assertThatThrownBy(() -> PolicySpec.rule("sometimes"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cheapest");
  }

  @ParameterizedTest
  @CsvSource({
    "best,unknown policy 'best'",
    "'',unknown policy ''",
    "dynamo:x=1,has no option 'x'",
    "dynamo:overlap-credit,'overlap-credit' is not OPTION=NUMBER",
    "dynamo:overlap-credit=much,'overlap-credit=much' is not OPTION=NUMBER",
    "dynamo:,'' is not OPTION=NUMBER",
  })
  void namesWhatIsWrong(String spec, String message) {
    assertThatThrownBy(() -> PolicySpec.make(spec))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
