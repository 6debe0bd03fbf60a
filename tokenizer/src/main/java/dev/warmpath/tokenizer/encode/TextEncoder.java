package dev.warmpath.tokenizer.encode;

import ai.djl.huggingface.tokenizers.jni.LibUtils;
import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongFunction;

/**
 * One {@code tokenizer.json} at work: text to token ids and back.
 *
 * <p>Truncation and padding that the file may ask for are off; whether special tokens are added is
 * said at each call. Text that names an added token gives that token, as in the engine.
 *
 * <p>Thread-safe.
 */
public final class TextEncoder implements AutoCloseable {

  private static final AtomicInteger OPEN = new AtomicInteger();

  /*
   * The tokenizer lives in native memory behind a number. Calls hold the read lock and close takes
   * the write lock, so the memory is never freed under a call. No call waits: it goes past a close
   * that waits for others, and finds the lock taken only when the encoder is closed. There is no
   * finalizer: an encoder that nobody closes lives as long as the process.
   */
  private final ReadWriteLock lifetime = new ReentrantReadWriteLock();
  private long handle;

  private TextEncoder(long handle) {
    this.handle = handle;
    OPEN.incrementAndGet();
  }

  /** How many encoders of this process hold native memory. */
  public static int open() {
    return OPEN.get();
  }

  /**
   * The encoder that this {@code tokenizer.json} describes.
   *
   * @throws IllegalArgumentException if the native library cannot read it
   */
  public static TextEncoder of(String tokenizerJson) {
    long handle;
    try {
      handle = NativeTokenizers.library().createTokenizerFromString(tokenizerJson);
    } catch (RuntimeException e) {
      throw new IllegalArgumentException("not a usable tokenizer: " + e.getMessage(), e);
    }
    TextEncoder encoder = new TextEncoder(handle);
    try {
      NativeTokenizers.library().disableTruncation(handle);
      NativeTokenizers.library().disablePadding(handle);
      return encoder;
    } catch (RuntimeException | Error e) {
      encoder.close();
      throw e;
    }
  }

  /** Whether {@code text} is well-formed UTF-16, which is all that can be encoded. */
  public static boolean isWellFormed(String text) {
    return isWellFormed(text, 0);
  }

  /** Whether {@code text} is well-formed from {@code from} on, which is not inside a pair. */
  static boolean isWellFormed(String text, int from) {
    for (int i = from; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        boolean pair = i + 1 < text.length() && Character.isSurrogatePair(c, text.charAt(i + 1));
        if (!pair) {
          return false;
        }
        i++;
      }
    }
    return true;
  }

  /**
   * The token ids of {@code text}.
   *
   * @param addSpecialTokens whether the file's post-processor may add what it adds (mostly a BOS)
   * @throws IllegalArgumentException if the text is not {@linkplain #isWellFormed well-formed}
   */
  public int[] encode(String text, boolean addSpecialTokens) {
    if (!isWellFormed(text)) {
      throw new IllegalArgumentException("text holds half a surrogate pair");
    }
    return alive(tokenizer -> encode(tokenizer, text, addSpecialTokens));
  }

  /** The text of {@code tokenIds}, special tokens written out. Unknown ids give nothing. */
  public String decode(int[] tokenIds) {
    long[] ids = new long[tokenIds.length];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = tokenIds[i];
    }
    return alive(tokenizer -> NativeTokenizers.library().decode(tokenizer, ids, false));
  }

  /** Frees the native tokenizer once the calls under way are done. Later calls throw. */
  @Override
  public void close() {
    Lock lock = lifetime.writeLock();
    lock.lock();
    try {
      if (handle != 0) {
        NativeTokenizers.library().deleteTokenizer(handle);
        handle = 0;
        OPEN.decrementAndGet();
      }
    } finally {
      lock.unlock();
    }
  }

  private <T> T alive(LongFunction<T> call) {
    Lock lock = lifetime.readLock();
    if (!lock.tryLock()) {
      throw closed();
    }
    try {
      if (handle == 0) {
        throw closed();
      }
      return call.apply(handle);
    } finally {
      lock.unlock();
    }
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("the encoder is closed");
  }

  private static int[] encode(long tokenizer, String text, boolean addSpecialTokens) {
    long encoding = NativeTokenizers.library().encode(tokenizer, text, addSpecialTokens);
    try {
      return narrow(NativeTokenizers.library().getTokenIds(encoding));
    } finally {
      NativeTokenizers.library().deleteEncoding(encoding);
    }
  }

  private static int[] narrow(long[] ids) {
    int[] narrow = new int[ids.length];
    for (int i = 0; i < ids.length; i++) {
      narrow[i] = (int) ids[i];
    }
    return narrow;
  }

  /**
   * The native library, loaded once, with everything switched off that would reach for the network.
   */
  private static final class NativeTokenizers {

    /*
     * Without these properties the loader asks a cloud metadata address who it is, reports that it was
     * started, and looks for a CUDA build to download. They are read while the library loads, so they
     * are set in this class's initializer and nowhere else is the library touched.
     */
    private static final TokenizersLibrary LIBRARY = load();

    private NativeTokenizers() {}

    static TokenizersLibrary library() {
      return LIBRARY;
    }

    private static TokenizersLibrary load() {
      System.setProperty("ai.djl.offline", "true");
      System.setProperty("OPT_OUT_TRACKING", "true");
      LibUtils.checkStatus();
      return TokenizersLibrary.LIB;
    }
  }
}
