package dev.warmpath.tokenizer.encode;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AddedTokensTest {

  @Test
  void theLongestTokenWins() {
    AddedTokens tokens = new AddedTokens(List.of(given("<a", 1), given("<a>", 2), given("<ab", 3)));
    assertThat(idAt(tokens, "<a>", 0)).isEqualTo(2);
    assertThat(idAt(tokens, "<ac", 0)).isEqualTo(1);
    assertThat(idAt(tokens, "x<a", 0)).isEqualTo(-1);
    assertThat(idAt(tokens, "x<a", 1)).isEqualTo(1);
  }

  @Test
  void nothingIsFoundBehindTheEnd() {
    AddedTokens tokens = new AddedTokens(List.of(given("<a", 1), given("<a>", 2)));
    AddedToken found = tokens.at("<a>", 0, 2);
    assertThat(found).isNotNull();
    assertThat(found.id()).isEqualTo(1);
  }

  @Test
  void tokensOfTheNormalizedTextTakeWhatTheOthersLeave() {
    AddedTokens tokens = new AddedTokens(List.of(given("b<", 1), normalized("ab<c", 2)));
    assertThat(idAt(tokens, "ab<c", 0)).isEqualTo(-1);
    AddedTokens shorter =
        new AddedTokens(List.of(given("b<", 1), normalized("ab<c", 2), normalized("a", 3)));
    assertThat(idAt(shorter, "ab<c", 0)).isEqualTo(3);
  }

  private static int idAt(AddedTokens tokens, String text, int at) {
    @Nullable AddedToken found = tokens.at(text, at, text.length());
    return found == null ? -1 : found.id();
  }

  private static AddedToken given(String content, int id) {
    return new AddedToken(content, id, true, false, false, false);
  }

  private static AddedToken normalized(String content, int id) {
    return new AddedToken(content, id, true, true, false, false);
  }
}
