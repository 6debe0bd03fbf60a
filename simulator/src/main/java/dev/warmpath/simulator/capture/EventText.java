package dev.warmpath.simulator.capture;

import dev.warmpath.eventingest.wire.BlockPlace;
import dev.warmpath.eventingest.wire.EventRow;
import dev.warmpath.eventingest.wire.Naming;
import dev.warmpath.kvindex.block.ExtraKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Events and request bodies in a few words. */
final class EventText {

  private static final int MOST_HASHES = 4;
  private static final int MOST_CHARACTERS = 40;

  private EventText() {}

  static String of(EventRow event) {
    return switch (event.kind()) {
      case STORED -> stored(event);
      case REMOVED -> "BlockRemoved " + place(event.place()) + " " + hashes(event.engineHashes());
      case CLEARED -> "AllBlocksCleared";
    };
  }

  /** A map's short values; lists and maps by their size, long texts by their length. */
  static String summary(Map<String, @Nullable Object> map) {
    return map.entrySet().stream()
        .map(entry -> entry.getKey() + "=" + brief(entry.getValue()))
        .collect(Collectors.joining(" "));
  }

  private static String stored(EventRow stored) {
    List<String> words = new ArrayList<>();
    words.add("BlockStored " + place(stored.place()));
    words.add(hashes(stored.engineHashes()));
    words.add(stored.atRoot() ? "at root" : "after " + hex(stored.parent()));
    words.add(stored.plainTokens() + " tokens / " + stored.blockSizeTokens());
    if (stored.lookaheadTokens() > 0) {
      words.add("lookahead " + stored.lookaheadTokens());
    }
    if (stored.spec().kind() != null) {
      words.add(stored.spec().kind());
    }
    if (stored.naming() == Naming.DENSE) {
      words.addAll(keys(stored));
    } else {
      words.add(stored.naming().label());
    }
    return String.join(" ", words);
  }

  /** Each extra key once, however many blocks carry it. */
  private static Set<String> keys(EventRow stored) {
    Set<String> words = new LinkedHashSet<>();
    for (int i = 0; i < stored.hashCount(); i++) {
      stored.extraKeys(i).forEach(key -> words.add(key(key)));
    }
    return words;
  }

  private static String key(ExtraKey key) {
    if (key instanceof ExtraKey.Lora lora) {
      return "lora=" + lora.name();
    }
    if (key instanceof ExtraKey.Multimodal item) {
      return "mm=" + item.identifier() + "@" + item.offset();
    }
    return key instanceof ExtraKey.CacheSalt ? "salted" : "embeds";
  }

  private static String place(BlockPlace place) {
    String where = place.medium() + " group " + place.groupIdx();
    return place.locality() == null ? where : where + " " + place.locality();
  }

  private static String hashes(long[] hashes) {
    String first =
        Arrays.stream(hashes)
            .limit(MOST_HASHES)
            .mapToObj(EventText::hex)
            .collect(Collectors.joining(" "));
    String more = hashes.length > MOST_HASHES ? " and " + (hashes.length - MOST_HASHES) : "";
    return "[" + first + more + "]";
  }

  /** The upper half of a hash: enough to tell blocks apart by eye. */
  private static String hex(long hash) {
    return HexFormat.of().toHexDigits((int) (hash >>> Integer.SIZE));
  }

  private static String brief(@Nullable Object value) {
    if (value instanceof List<?> list) {
      return list.size() + " items";
    }
    if (value instanceof Map<?, ?> map) {
      return map.size() + " fields";
    }
    if (value instanceof byte[] bytes) {
      return bytes.length + " bytes";
    }
    if (value instanceof String text && text.length() > MOST_CHARACTERS) {
      return text.length() + " characters";
    }
    return String.valueOf(value);
  }
}
