package dev.warmpath.router.proxy;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Picks what an engine says of prompt and answer out of the tokens of a JSON document; later ones
 * win. Chats and completions have {@code usage.prompt_tokens}, of which {@code
 * prompt_tokens_details.cached_tokens} were cached, and {@code completion_tokens}. Responses have
 * {@code usage.input_tokens}, {@code input_tokens_details} and {@code output_tokens}, also within
 * {@code response}. Messages have {@code usage.input_tokens} and {@code output_tokens}, also within
 * {@code message}, which leaves out {@code cache_read_input_tokens} and {@code
 * cache_creation_input_tokens}.
 *
 * <p>Confined to its event loop.
 */
final class UsageFields {

  private static final String USAGE = "usage";

  private int promptTokens = Usage.ABSENT;
  private int inputTokens = Usage.ABSENT;
  private int cachedTokens = Usage.ABSENT;
  private int answerTokens = Usage.ABSENT;
  private int cacheReadTokens = Usage.ABSENT;
  private int cacheCreationTokens = Usage.ABSENT;
  private @Nullable String responseId;

  Usage usage() {
    if (inputTokens == Usage.ABSENT) {
      return new Usage(promptTokens, cachedTokens, answerTokens);
    }
    int all = inputTokens + Math.max(0, cacheReadTokens) + Math.max(0, cacheCreationTokens);
    return new Usage(all, Math.max(cachedTokens, cacheReadTokens), answerTokens);
  }

  /** The id of the document, or of the response in it; null if it has none. */
  @Nullable String responseId() {
    return responseId;
  }

  void accept(JsonToken token, JsonParser parser) throws IOException {
    if (token == JsonToken.VALUE_STRING) {
      text(parser);
    } else if (token == JsonToken.VALUE_NUMBER_INT) {
      number(parser);
    }
  }

  private void text(JsonParser parser) throws IOException {
    JsonStreamContext place = parser.getParsingContext();
    if ("id".equals(place.getCurrentName()) && (isTop(place) || isResponse(place.getParent()))) {
      responseId = parser.getText();
    }
  }

  private static boolean isResponse(@Nullable JsonStreamContext place) {
    return place != null && isTop(place) && "response".equals(place.getCurrentName());
  }

  private void number(JsonParser parser) throws IOException {
    JsonStreamContext place = parser.getParsingContext();
    JsonStreamContext outer = place.getParent();
    String name = place.getCurrentName();
    if (outer == null || name == null) {
      return;
    }
    if (name.equals("cached_tokens") && isDetails(outer)) {
      cachedTokens = count(parser);
    } else if (isUsage(outer)) {
      take(name, parser);
    }
  }

  private void take(String name, JsonParser parser) throws IOException {
    switch (name) {
      case "prompt_tokens" -> promptTokens = count(parser);
      case "input_tokens" -> inputTokens = count(parser);
      case "completion_tokens", "output_tokens" -> answerTokens = count(parser);
      case "cache_read_input_tokens" -> cacheReadTokens = count(parser);
      case "cache_creation_input_tokens" -> cacheCreationTokens = count(parser);
      default -> {}
    }
  }

  private static boolean isDetails(JsonStreamContext place) {
    @Nullable JsonStreamContext outer = place.getParent();
    String name = place.getCurrentName();
    boolean details = "prompt_tokens_details".equals(name) || "input_tokens_details".equals(name);
    return details && outer != null && isUsage(outer);
  }

  /** Is this object's current value the usage, at the top or in what repeats the answer? */
  private static boolean isUsage(JsonStreamContext place) {
    @Nullable JsonStreamContext outer = place.getParent();
    if (outer == null || !USAGE.equals(place.getCurrentName())) {
      return false;
    }
    String name = outer.getCurrentName();
    return isTop(place) || (isTop(outer) && ("message".equals(name) || "response".equals(name)));
  }

  private static boolean isTop(JsonStreamContext place) {
    @Nullable JsonStreamContext outer = place.getParent();
    return outer != null && outer.inRoot();
  }

  private static int count(JsonParser parser) throws IOException {
    long value = parser.getNumberType() == JsonParser.NumberType.INT ? parser.getIntValue() : -1;
    return value < 0 ? Usage.ABSENT : (int) value;
  }
}
