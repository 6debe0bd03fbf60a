package dev.warmpath.router.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.hashing.EventFormat;
import dev.warmpath.eventingest.hashing.SglangNamespaces;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A request with an extra_key finds its own blocks where hashes show them, and only there. */
final class ExtraKeyTest {

  private static final SglangNamespaces DYNAMO =
      SglangNamespaces.of(EventFormat.DYNAMO, Map.of("fr", "lora/fr"));
  private static final SglangNamespaces ADAPTER =
      SglangNamespaces.of(EventFormat.DEFAULT, Map.of("fr", "lora/fr"));
  private static final Tokens PLAIN = World.prompt(64, 40, 1, 1);
  private static final Tokens X = PLAIN.in("x");

  private final World world = new World("warm").with(1);

  @Test
  void findsItsOwnBlocksWhereHashesShowThem() {
    world.shows("r0", DYNAMO);
    world.storeShown("r0", 3, X);
    assertThat(assign(X).choice().prediction().cachedTokens()).isEqualTo(48);
    assertThat(assign(PLAIN.in("y")).choice().prediction().cachedTokens()).isZero();
    assertThat(assign(PLAIN).choice().prediction().cachedTokens()).isZero();
    assertThat(world.fallbacks()).doesNotContainKey("hidden_namespace");
  }

  @Test
  void doesNotFindThoseOfPlainRequests() {
    world.shows("r0", DYNAMO);
    world.store("r0", 3, PLAIN);
    assertThat(assign(X).choice().prediction().cachedTokens()).isZero();
    assertThat(assign(PLAIN).choice().prediction().cachedTokens()).isEqualTo(48);
  }

  @Test
  void isHiddenWhereHashesDoNotShowIt() {
    world.shows("r0", SglangNamespaces.PLAIN);
    world.store("r0", 3, PLAIN);
    Assignment assignment = assign(X);
    assertThat(assignment.choice().prediction().basis()).isEqualTo(Prediction.Basis.PROMPT_UNKNOWN);
    assertThat(assignment.choice().prediction().cachedTokens()).isEqualTo(Prediction.NONE);
    assertThat(world.fallbacks()).containsKey("hidden_namespace");
  }

  @Test
  void isHiddenOnOtherEngines() {
    world.store("r0", 3, PLAIN);
    assertThat(assign(X).choice().prediction().cachedTokens()).isEqualTo(Prediction.NONE);
  }

  @Test
  void isShownForKnownAdaptersInAnyFormat() {
    Tokens french = adapter("fr").in("x");
    world.shows("r0", ADAPTER);
    world.storeShown("r0", 2, french);
    assertThat(assign(french).choice().prediction().cachedTokens()).isEqualTo(32);
    assertThat(assign(adapter("fr")).choice().prediction().cachedTokens()).isZero();
    assertThat(assign(X).choice().prediction().cachedTokens()).isEqualTo(Prediction.NONE);
  }

  @Test
  void isHiddenForUnknownAdaptersInAnyFormat() {
    world.shows("r0", DYNAMO);
    assertThat(assign(adapter("loaded-later").in("x")).choice().prediction().cachedTokens())
        .isEqualTo(Prediction.NONE);
  }

  @Test
  void goesWhereItsBlocksAreAmongEnginesOfSeveralKinds() {
    world.add("r1");
    world.add("r2");
    world.shows("r0", SglangNamespaces.PLAIN);
    world.shows("r1", DYNAMO);
    world.store("r0", 6, PLAIN);
    world.store("r2", 6, PLAIN);
    world.storeShown("r1", 6, X);
    assertThat(assign(X).engine()).isEqualTo("r1");
  }

  private Assignment assign(PromptResult.Tokens prompt) {
    return world.assign(prompt);
  }

  private static Tokens adapter(String name) {
    return new Tokens(PLAIN.sequences(), new PromptKeys(name, null), true, true, null);
  }
}
