package dev.warmpath.router.proxy.usage;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Picks {@code usage.prompt_tokens} and {@code usage.prompt_tokens_details.cached_tokens} out of
 * the tokens of a JSON document; later ones win.
 *
 * <p>Confined to its event loop.
 */
final class UsageFields {

  private int promptTokens = Usage.ABSENT;
  private int cachedTokens = Usage.ABSENT;

  Usage usage() {
    return new Usage(promptTokens, cachedTokens);
  }

  void accept(JsonToken token, JsonParser parser) throws IOException {
    if (token != JsonToken.VALUE_NUMBER_INT) {
      return;
    }
    JsonStreamContext place = parser.getParsingContext();
    if (isAt(place, "prompt_tokens", "usage")) {
      promptTokens = count(parser);
    } else if (isAt(place, "cached_tokens", "prompt_tokens_details")
        && isAt(place.getParent(), "prompt_tokens_details", "usage")) {
      cachedTokens = count(parser);
    }
  }

  /** Is this the value of {@code name} in the value of {@code parent}, which is at the top? */
  private static boolean isAt(JsonStreamContext place, String name, String parent) {
    JsonStreamContext outer = place.getParent();
    return name.equals(place.getCurrentName())
        && outer != null
        && parent.equals(outer.getCurrentName())
        && (isTop(outer) || !parent.equals("usage"));
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
