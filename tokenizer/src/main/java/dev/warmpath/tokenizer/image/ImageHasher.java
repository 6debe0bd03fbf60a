package dev.warmpath.tokenizer.image;

import dev.warmpath.kvindex.block.ImageForm;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.apache.commons.codec.digest.Blake3;

/** Computes the identifiers that vLLM gives to images. */
final class ImageHasher {

  private static final int NONE = -1;
  private static final int SEQUENCE = 1;
  private static final int MAPPING = 2;
  private static final int LEAF = 3;
  private static final long WHITE = 255;
  private static final int CHANNELS = 3;

  private final ImageForm form;
  private final Sink sink;

  private interface Sink {
    void add(byte[] bytes);

    byte[] digest();
  }

  private ImageHasher(ImageForm form) {
    this.form = form;
    this.sink = sink(form.algorithm());
  }

  /**
   * The identifier of the image in this file.
   *
   * @param rgb whether the engine leaves its pixels as they are
   */
  static String identifier(ImageForm form, byte[] file, boolean rgb) {
    ImageHasher hasher = new ImageHasher(form);
    if (form.framed()) {
      hasher.framed(file, rgb);
    } else {
      hasher.bare(file, rgb);
    }
    return HexFormat.of().formatHex(hasher.sink.digest());
  }

  private void framed(byte[] file, boolean rgb) {
    key("image");
    key("image", LEAF);
    if (rgb) {
      leaf(file);
    } else {
      open(MAPPING, 2);
      key("io_config");
      open(MAPPING, 2);
      key("image_mode");
      leaf(utf8("RGB"));
      key("rgba_background_color");
      open(SEQUENCE, CHANNELS);
      for (int i = 0; i < CHANNELS; i++) {
        leaf(number(WHITE));
      }
      key("data");
      leaf(file);
    }
    key("model_id");
    leaf(utf8(form.model()));
  }

  private void bare(byte[] file, boolean rgb) {
    sink.add(utf8("image"));
    if (rgb) {
      sink.add(utf8("image"));
      sink.add(file);
    } else {
      sink.add(utf8("image.io_config.image_mode"));
      sink.add(utf8("RGB"));
      for (int i = 0; i < CHANNELS; i++) {
        sink.add(utf8("image.io_config.rgba_background_color." + i));
        sink.add(number(WHITE));
      }
      sink.add(utf8("image.data"));
      sink.add(file);
    }
    sink.add(utf8("model_id"));
    sink.add(utf8(form.model()));
  }

  private void key(String key) {
    key(key, NONE);
  }

  /** A name with its length, behind a tag if it has one. */
  private void key(String key, int tag) {
    if (tag != NONE) {
      sink.add(new byte[] {(byte) tag});
    }
    byte[] bytes = utf8(key);
    sink.add(number(bytes.length));
    sink.add(bytes);
  }

  private void open(int tag, int size) {
    sink.add(new byte[] {(byte) tag});
    sink.add(number(size));
  }

  private void leaf(byte[] bytes) {
    sink.add(new byte[] {LEAF});
    sink.add(number(bytes.length));
    sink.add(bytes);
  }

  private static byte[] number(long value) {
    return ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static Sink sink(ImageForm.Algorithm algorithm) {
    return switch (algorithm) {
      case BLAKE3 -> blake3();
      case SHA256 -> java("SHA-256");
      case SHA512 -> java("SHA-512");
    };
  }

  private static Sink blake3() {
    Blake3 hash = Blake3.initHash();
    return new Sink() {
      @Override
      public void add(byte[] bytes) {
        hash.update(bytes);
      }

      @Override
      public byte[] digest() {
        return hash.doFinalize(32);
      }
    };
  }

  private static Sink java(String algorithm) {
    MessageDigest hash;
    try {
      hash = MessageDigest.getInstance(algorithm);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("a JDK without " + algorithm, e);
    }
    return new Sink() {
      @Override
      public void add(byte[] bytes) {
        hash.update(bytes);
      }

      @Override
      public byte[] digest() {
        return hash.digest();
      }
    };
  }
}
