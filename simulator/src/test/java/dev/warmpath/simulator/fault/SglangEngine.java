package dev.warmpath.simulator.fault;

import dev.warmpath.simulator.live.WireForm;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;

/**
 * SGLang's radix cache and its events: a page exists once, parents outlive children, hashes are
 * signed and chained by SHA-256.
 */
final class SglangEngine extends FaultyEngine {

  private static final int PAGES = 120;
  private static final String MEDIUM = "GPU";

  /** Begins like the name of no adapter: a name space of which the wire shows nothing. */
  private static final String HIDDEN = "\0hidden";

  private final WireForm form;

  /** Page → its parent (0 for none), least recently used first. */
  private final Map<Long, Long> pages = new LinkedHashMap<>(16, 0.75f, true);

  /** Hidden page → its hash on the wire, which is that of the plain page with these tokens. */
  private final Map<Long, Long> shown = new HashMap<>();

  private int pageTokens = 8;
  private boolean cleared = true;

  SglangEngine(WireForm form) {
    this.form = form;
  }

  @Override
  void serve(int[] prompt, @Nullable String lora) {
    store(prompt, lora, false);
  }

  @Override
  void serveTwice(int[] prompt) {
    store(prompt, null, false);
    store(prompt, null, true);
  }

  /** An {@code extra_key}, in the default format. */
  @Override
  void serveHidden(int[] prompt) {
    long[] hidden = chain(prompt, HIDDEN, prompt.length / pageTokens);
    long[] plain = chain(prompt, null, hidden.length);
    for (int i = 0; i < hidden.length; i++) {
      shown.put(hidden[i], plain[i]);
    }
    store(prompt, HIDDEN, false);
  }

  @Override
  int reusable(int[] prompt, @Nullable String lora) {
    int held = 0;
    for (long page : chain(prompt, lora, (prompt.length - 1) / pageTokens)) {
      if (!pages.containsKey(page)) {
        break;
      }
      held++;
    }
    return held * pageTokens;
  }

  @Override
  void reset() {
    pages.clear();
    cleared = true;
  }

  @Override
  void resize() {
    pages.clear();
    pageTokens *= 2;
  }

  @Override
  void restart() {
    super.restart();
    reset();
  }

  /** Stores what is not held, or announces all of it once more. */
  private void store(int[] prompt, @Nullable String lora, boolean again) {
    long[] chain = chain(prompt, lora, prompt.length / pageTokens);
    int first = 0;
    while (!again && first < chain.length && pages.get(chain[first]) != null) {
      first++;
    }
    List<Long> removed = new ArrayList<>();
    for (int i = first; i < chain.length; i++) {
      pages.put(chain[i], i == 0 ? 0 : chain[i - 1]);
      evictOne(removed);
    }
    int from = first;
    int events = (cleared ? 1 : 0) + (removed.isEmpty() ? 0 : 1) + (from < chain.length ? 1 : 0);
    if (events > 0) {
      boolean clearedBefore = cleared;
      cleared = false;
      publish(
          batch(
              packer -> write(packer, clearedBefore, removed, chain, from, prompt, lora), events));
    }
  }

  /** Drops the page that was used longest ago and has no child. */
  private void evictOne(List<Long> removed) {
    if (pages.size() <= PAGES) {
      return;
    }
    Iterator<Long> oldest = pages.keySet().iterator();
    while (oldest.hasNext()) {
      long page = oldest.next();
      if (!pages.containsValue(page)) {
        oldest.remove();
        removed.add(page);
        return;
      }
    }
  }

  private void write(
      MessageBufferPacker packer,
      boolean clear,
      List<Long> removed,
      long[] chain,
      int first,
      int[] prompt,
      @Nullable String lora)
      throws IOException {
    @Nullable String adapter = HIDDEN.equals(lora) ? null : lora;
    if (clear) {
      head(packer, 1, "AllBlocksCleared");
    }
    if (!removed.isEmpty()) {
      head(packer, 3, "BlockRemoved");
      hashes(name(packer, "block_hashes"), removed.stream().mapToLong(page -> page).toArray());
      name(packer, "medium").packString(MEDIUM);
    }
    if (first < chain.length) {
      head(packer, adapter == null ? 7 : 8, "BlockStored");
      hashes(name(packer, "block_hashes"), Arrays.copyOfRange(chain, first, chain.length));
      name(packer, "parent_block_hash");
      if (first == 0) {
        packer.packNil();
      } else {
        packer.packLong(shown(chain[first - 1]));
      }
      name(packer, "token_ids").packArrayHeader((chain.length - first) * pageTokens);
      for (int i = first * pageTokens; i < chain.length * pageTokens; i++) {
        packer.packInt(prompt[i]);
      }
      name(packer, "block_size").packInt(pageTokens);
      name(packer, "lora_id").packNil();
      name(packer, "medium").packString(MEDIUM);
      if (adapter != null) {
        name(packer, "lora_name").packString(adapter);
      }
    }
  }

  private void head(MessageBufferPacker packer, int fields, String type) throws IOException {
    if (form == WireForm.ARRAY) {
      packer.packArrayHeader(fields).packString(type);
    } else {
      packer.packMapHeader(fields).packString("type").packString(type);
    }
  }

  private MessageBufferPacker name(MessageBufferPacker packer, String field) throws IOException {
    if (form == WireForm.MAP) {
      packer.packString(field);
    }
    return packer;
  }

  private long shown(long page) {
    return shown.getOrDefault(page, page);
  }

  private void hashes(MessageBufferPacker packer, long[] hashes) throws IOException {
    packer.packArrayHeader(hashes.length);
    for (long hash : hashes) {
      packer.packLong(shown(hash));
    }
  }

  private long[] chain(int[] prompt, @Nullable String lora, int count) {
    long[] chain = new long[count];
    MessageDigest sha256 = sha256();
    byte[] prior = lora == null ? new byte[0] : lora.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < count; i++) {
      sha256.update(prior);
      ByteBuffer ids = ByteBuffer.allocate(4 * pageTokens).order(ByteOrder.LITTLE_ENDIAN);
      for (int token = 0; token < pageTokens; token++) {
        ids.putInt(prompt[i * pageTokens + token]);
      }
      prior = sha256.digest(ids.array());
      chain[i] = ByteBuffer.wrap(prior).getLong();
    }
    return chain;
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("a JDK without SHA-256", e);
    }
  }
}
