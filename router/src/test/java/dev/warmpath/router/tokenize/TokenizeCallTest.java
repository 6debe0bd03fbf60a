package dev.warmpath.router.tokenize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.RequestKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TokenizeCallTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'reasoning_content':'a'}                  | {'reasoning_content':'a','reasoning':'a'}",
        "{'reasoning_content':'a','reasoning':'b'}  | {'reasoning_content':'a','reasoning':'b'}",
        "{'reasoning_content':'a','reasoning':null} | {'reasoning_content':'a','reasoning':'a'}",
        "{'reasoning_content':null}                 | {'reasoning_content':null}",
        "{'reasoning':'b'}                          | {'reasoning':'b'}",
        "'no object'                                | 'no object'",
      },
      quoteCharacter = '#')
  void reasoningHasBothNames(String message, String asked) throws IOException {
    ObjectNode request = json("{'messages':[" + message + "]}");
    ObjectNode before = request.deepCopy();
    byte[] body = TokenizeCall.body(request);
    assertThat(json(new String(body, StandardCharsets.UTF_8)))
        .isEqualTo(json("{'messages':[" + asked + "]}"));
    assertThat(request).as("the caller's request").isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'reasoning_effort':'none'}",
        "{'truncate_prompt_tokens':3}",
        "{'tool_choice':'none'}",
        "{'add_special_tokens':true}",
        "{'documents':[]}"
      })
  void whatItWouldCutOtherwiseDoesNotFit(String request) throws IOException {
    assertThat(TokenizeCall.fits(RequestKind.CHAT, json(request))).isFalse();
  }

  @Test
  void onlyChatsAndSingleTextsFit() throws IOException {
    assertThat(TokenizeCall.fits(RequestKind.CHAT, json("{'messages':[]}"))).isTrue();
    assertThat(TokenizeCall.fits(RequestKind.COMPLETION, json("{'prompt':'a'}"))).isTrue();
    assertThat(TokenizeCall.fits(RequestKind.COMPLETION, json("{'prompt':['a','b']}"))).isFalse();
    assertThat(TokenizeCall.fits(RequestKind.MESSAGES, json("{'messages':[]}"))).isFalse();
    assertThat(TokenizeCall.fits(RequestKind.RESPONSES, json("{'input':'a'}"))).isFalse();
  }

  @Test
  void chatsOfGptOssAreServedOtherwise() {
    int[] harmony = {200_006, 17_360, 200_008};
    assertThat(TokenizeCall.isTrusted(RequestKind.CHAT, harmony)).isFalse();
    assertThat(TokenizeCall.isTrusted(RequestKind.COMPLETION, harmony)).isTrue();
    assertThat(TokenizeCall.isTrusted(RequestKind.CHAT, new int[] {1, 200_006})).isTrue();
    assertThat(TokenizeCall.isTrusted(RequestKind.CHAT, new int[0])).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '#',
      value = {
        "{'a':{'tokens':[9]},'tokens':[1,2],'n':null} | 1,2",
        "{'tokens':[]}                                | #{}#",
        "{'tokens':[1,[2],3]}                         | none",
        "{'tokens':[1,-2]}                            | none",
        "{'tokens':[1,99999999999]}                   | none",
        "{'tokens':[1.0]}                             | none",
        "{'tokens':{'a':[1]}}                         | none",
        "{'other':[1]}                                | none",
        "[1]                                          | none",
        "'a'                                          | none"
      })
  void idsAreThoseOfTheList(String answer, String ids) throws IOException {
    int[] found = TokenizeCall.tokenIds(answer.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    String shown = found == null ? "none" : Arrays.toString(found).replaceAll("[\\[\\] ]", "");
    assertThat(shown).isEqualTo(ids.equals("{}") ? "" : ids);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[{'token_ids':[1,2],'features':null}] | [1, 2]",
        "{'token_ids':[1,2]}                   | [1, 2]",
        "[{'token_ids':[1]},{'token_ids':[2]}] | null",
        "[{'token_ids':[1],'features':{}}]     | null",
        "[]                                    | null"
      },
      quoteCharacter = '#')
  void renderedIdsAreThoseOfOnePromptWithoutImages(String answer, String ids) throws IOException {
    int[] found = RenderCall.tokenIds(answer.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    assertThat(Arrays.toString(found)).isEqualTo(ids);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"tokens\":[1,2", "{\"tokens\":[1,2]", "nul"})
  void anAnswerThatIsNoJsonFails(String answer) {
    assertThatThrownBy(() -> TokenizeCall.tokenIds(answer.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(IOException.class);
  }

  private static ObjectNode json(String text) throws IOException {
    return (ObjectNode) new ObjectMapper().readTree(text.replace('\'', '"'));
  }
}
