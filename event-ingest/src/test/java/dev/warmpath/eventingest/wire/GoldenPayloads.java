package dev.warmpath.eventingest.wire;

import java.util.HexFormat;

/**
 * One batch as msgspec, the engines' encoder, writes it: a store of two blocks, one of them salted,
 * a removal, and a clear; timestamp 1.5, no rank.
 */
final class GoldenPayloads {

  /** With every field that stores have ever had in array form, and more. */
  static final byte[] ARRAY =
      HexFormat.of()
          .parseHex(
              "93cb3ff8000000000000939fab426c6f636b53746f72656492c40411111111cfffffffffffffffff"
                  + "c09401ccc8ce000111700402c0a3475055c092c091a473616c7400c0c0c0c0c094ac426c6f63"
                  + "6b52656d6f7665649105a34750550091b0416c6c426c6f636b73436c6561726564c0");

  static final byte[] MAP =
      HexFormat.of()
          .parseHex(
              "93cb3ff8000000000000938aa474797065ab426c6f636b53746f726564ac626c6f636b5f68617368"
                  + "657392c40411111111cfffffffffffffffffb1706172656e745f626c6f636b5f68617368c0a9"
                  + "746f6b656e5f6964739401ccc8ce0001117004aa626c6f636b5f73697a6502a76c6f72615f69"
                  + "64c0a66d656469756da3475055a96c6f72615f6e616d65c0aa65787472615f6b65797392c091"
                  + "a473616c74a967726f75705f6964780084a474797065ac426c6f636b52656d6f766564ac626c"
                  + "6f636b5f6861736865739105a66d656469756da3475055a967726f75705f6964780081a47479"
                  + "7065b0416c6c426c6f636b73436c6561726564c0");

  private GoldenPayloads() {}
}
